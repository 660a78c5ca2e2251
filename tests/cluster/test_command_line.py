"""The command on a real cluster: what runs, what fails and why, what an apply would change, what is wrong."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from llmservice.cli import main
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service
from tests.cluster.target import Target

pytestmark = pytest.mark.cluster

Llm = Callable[..., Result]


@pytest.fixture
def llm(target: Target, kube: Kube) -> Llm:
    """Runs the command in the namespace of the test."""
    environment = target.operator_environment()
    context = environment.get("LLMSERVICE_CONTEXT", "")

    def run(verb: str, *arguments: str) -> Result:
        where = ["-n", kube.namespace, "--context", context, "--kubeconfig", environment.get("KUBECONFIG", "")]
        return CliRunner().invoke(main, [verb, *arguments, *where], prog_name="llmservice")

    return run


def data(result: Result) -> list[Body]:
    found: list[Body] = json.loads(result.stdout)
    return found


def written(folder: Path, **spec: int) -> str:
    """The file of a service."""
    (folder / "chat.yaml").write_text(yaml.safe_dump(a_tiny_service("chat", **spec)))
    return str(folder / "chat.yaml")


@pytest.mark.usefixtures("models")
def test_what_serves_is_shown_from_every_side(kube: Kube, llm: Llm, tmp_path: Path) -> None:
    assert llm("diff", written(tmp_path, replicas=1)).exit_code == 1
    kube.create(a_tiny_service(replicas=1))
    kube.wait_ready("chat")

    (state,) = data(llm("status", "-o", "json"))
    assert (state["reached"], state["replicas"]) == (True, "1/1")
    assert "1/1" in llm("status", "chat", "--watch").stdout

    logs = llm("logs", "chat", "--tail", "20")
    (pod,) = data(llm("status", "chat", "-o", "json"))[0]["pods"]
    assert (logs.exit_code, pod["name"] in logs.stderr) == (0, True)
    assert 0 < len(logs.stdout.splitlines()) <= 20
    assert llm("logs", "chat", "--all", "--tail", "1").stdout.startswith(f"{pod['name']} | ")
    assert llm("logs", "chat", "--previous").exit_code == 1

    events = data(llm("events", "chat", "-o", "json"))
    kinds = {each["object"].split("/")[0] for each in events}
    assert {"LLMService", "Deployment", "ReplicaSet", "Pod"} <= kinds
    assert "Ready" in {each["reason"] for each in events}

    answer = json.loads(llm("explain", "chat", "-o", "json").stdout)
    assert (answer["held"]["by"], answer["replicas"]) == ("spec.replicas", {"desired": 1, "ready": 1})


@pytest.mark.usefixtures("models")
def test_a_diff_says_what_an_apply_then_does(kube: Kube, llm: Llm, tmp_path: Path) -> None:
    kube.create(a_tiny_service(replicas=1))
    kube.wait_ready("chat")
    template = _template(kube)
    for same in ("chat", written(tmp_path, replicas=1)):
        result = llm("diff", same)
        assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1), result.output

    more = written(tmp_path, replicas=2)
    (found,) = data(llm("diff", more, "-o", "json"))
    assert (found["restarts"], [child["kind"] for child in found["children"]]) == (
        False,
        ["PodDisruptionBudget", "Deployment"],
    )
    _apply(kube, more)
    assert _template(kube) == template

    longer = written(tmp_path, replicas=2, maxModelLen=256)
    (found,) = data(llm("diff", longer, "-o", "json"))
    assert (found["restarts"], [child["kind"] for child in found["children"]]) == (True, ["Deployment"])
    _apply(kube, longer)
    assert _template(kube) != template
    assert llm("diff", longer).exit_code == 0


def test_what_fails_says_where_to_look(kube: Kube, llm: Llm) -> None:
    kube.create(a_tiny_service(model={"uri": "pvc://nowhere/tiny.gguf"}))
    kube.wait_reason("chat", "ClaimNotFound")
    status = llm("status", "chat")
    assert (status.exit_code, "ClaimNotFound" in status.stdout) == (1, True)
    logs = llm("logs", "chat")
    assert (logs.exit_code, "llmservice events chat" in logs.stderr) == (1, True)
    assert "ClaimNotFound" in llm("events", "chat", "--warnings").stdout
    assert llm("logs", "nobody").exit_code == 1


@pytest.mark.usefixtures("models")
def test_the_log_of_an_engine_that_crashes_is_that_of_its_last_run(kube: Kube, llm: Llm) -> None:
    kube.create(a_tiny_service(model={"uri": "pvc://models/missing.gguf"}, replicas=1))

    def has_restarted() -> bool | None:
        (state,) = data(llm("status", "chat", "-o", "json"))
        return True if any(pod["restarts"] for pod in state["pods"]) else None

    kube.wait(has_restarted, lambda: llm("status", "chat").stdout, seconds=90)
    for options in ([], ["--previous"]):
        result = llm("logs", "chat", *options)
        assert (result.exit_code, "missing.gguf" in result.stdout) == (0, True), result.output


@pytest.mark.usefixtures("models")
def test_the_doctor_tells_an_operator_outside_from_none(kube: Kube, llm: Llm, operator: Operator) -> None:
    kube.create(a_tiny_service(replicas=1))
    kube.wait_ready("chat")
    assert _of_operator(llm) == "look"
    operator.stop()
    try:
        kube.patch("LLMService", "chat", {"spec": {"maxNumSeqs": 3}})
        assert _of_operator(llm) == "wrong"
        explained = llm("explain", "chat")
        assert (explained.exit_code, "spec.replicas" in explained.stdout) == (0, True)
        kube.patch("LLMService", "chat", {"spec": {"replicas": None, "autoscaling": {"maxReplicas": 2}}})
        away = llm("explain", "chat")
        assert (away.exit_code, "llmservice doctor" in away.stderr) == (1, True)
    finally:
        operator.start()
    kube.wait_ready("chat")


def _of_operator(llm: Llm) -> str:
    """How the check of the operator went; the others are well."""
    findings = {each["about"]: each for each in data(llm("doctor", "-o", "json"))}
    assert {findings[about]["grade"] for about in ("Kubernetes", "CRD", "rights")} == {"ok"}
    return str(findings["operator"]["grade"])


def _apply(kube: Kube, file: str) -> None:
    generation = (kube.get("LLMService", "chat") or {})["metadata"]["generation"]
    kube.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=user", "-f", file)

    def is_done() -> bool | None:
        body = kube.get("LLMService", "chat") or {}
        seen = body.get("status", {}).get("observedGeneration", 0) > generation
        return True if seen and kube.condition("chat", "Ready").get("status") == "True" else None

    kube.wait(is_done, lambda: kube.get("LLMService", "chat"))


def _template(kube: Kube) -> Body:
    template: Body = (kube.get("Deployment", "chat") or {})["spec"]["template"]
    return template
