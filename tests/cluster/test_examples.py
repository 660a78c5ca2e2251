"""The shipped examples on a real API server, in a namespace that enforces the restricted Pod Security Standard."""

from pathlib import Path

import pytest
import yaml

from llmservice.cli.render import render_resource
from llmservice.objects.workloads import pod_templates, workload_in
from tests.cluster.conftest import ROOT
from tests.cluster.kube import Body, Kube, Rejected
from tests.routes.crds import install_gateway_api

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

EXAMPLES = sorted((ROOT / "manifests" / "examples").glob("*.yaml"))
BEYOND_RESTRICTED = {"tgi-root": "runAsNonRoot", "vllm-rocm": "seccompProfile"}
"""Examples that the namespace has to allow, and what the API server objects to."""
IN_GROUPS = {"vllm-two-nodes"}
"""Examples that need LeaderWorkerSets, which this cluster lacks: tests/nodes has the kind and its controller."""


@pytest.fixture(scope="module", autouse=True)
def _gateway_api(cluster: Kube) -> None:
    """The kinds that an example with a route is rendered to."""
    install_gateway_api(cluster)


ADMITTED = [file for file in EXAMPLES if file.stem not in BEYOND_RESTRICTED]


def resource(file: Path) -> Body:
    """The LLMService in a file."""
    body: Body = yaml.safe_load(file.read_text())
    return body


def rendered(file: Path, namespace: str) -> list[Body]:
    """What the operator makes of an example; owned by nobody, because a file has no UID."""
    body = resource(file)
    return [*render_resource({**body, "metadata": {**body["metadata"], "namespace": namespace}})]


def pods_of(file: Path, namespace: str) -> list[Body]:
    """The pods that an example's workload would make: Pod Security refuses pods, of workloads it only warns."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**template["metadata"], "name": "probe"},
            "spec": template["spec"],
        }
        for template in pod_templates(workload_in(rendered(file, namespace)))
    ]


def test_there_are_more_than_ten_examples_and_few_exceptions() -> None:
    assert len(EXAMPLES) >= 10
    assert len(EXAMPLES) - len(ADMITTED) == len(BEYOND_RESTRICTED)


@pytest.mark.parametrize("file", [file for file in EXAMPLES if file.stem not in IN_GROUPS], ids=lambda file: file.stem)
def test_what_an_example_renders_to_is_accepted(quiet: Kube, file: Path) -> None:
    accepted = [quiet.create(manifest, dry_run=True) for manifest in rendered(file, quiet.namespace)]
    assert {"Service", "Deployment"} <= {manifest["kind"] for manifest in accepted}


@pytest.mark.parametrize("file", ADMITTED, ids=lambda file: file.stem)
def test_the_pods_of_an_example_pass_the_restricted_standard(quiet: Kube, file: Path) -> None:
    pods = pods_of(file, quiet.namespace)
    assert len(pods) == (2 if file.stem in IN_GROUPS else 1)
    assert all(quiet.create(pod, dry_run=True)["metadata"]["name"] == "probe" for pod in pods)


@pytest.mark.parametrize("stem", BEYOND_RESTRICTED)
def test_the_pods_of_some_examples_need_more_than_that(quiet: Kube, stem: str) -> None:
    with pytest.raises(Rejected, match=f"violates PodSecurity.*{BEYOND_RESTRICTED[stem]}"):
        quiet.create(*pods_of(EXAMPLES[0].with_name(f"{stem}.yaml"), quiet.namespace), dry_run=True)


def test_every_example_gets_its_pods_or_says_what_keeps_them_away(kube: Kube) -> None:
    names = {file.stem: kube.create(resource(file))["metadata"]["name"] for file in EXAMPLES}

    def without_pods() -> list[str]:
        return [file.stem for file in ADMITTED if file.stem not in IN_GROUPS and not _pods(kube, names[file.stem])]

    kube.wait(lambda: None if without_pods() else True, without_pods, seconds=60)
    for stem in IN_GROUPS:
        assert "LeaderWorkerSet" in kube.wait_reason(names[stem], "GroupsNotAvailable")["message"]
    for stem, objection in BEYOND_RESTRICTED.items():
        refused = kube.wait_reason(names[stem], "PodsRefused")
        assert objection in refused["message"]
        assert kube.condition(names[stem], "Available")["status"] == "False"
        assert _notes(kube, names[stem])


def _pods(kube: Kube, name: str) -> int:
    return len(kube.list("Pod", f"llmservice.dev/name={name}"))


def _notes(kube: Kube, name: str) -> str:
    """What the plan says that the namespace would have to allow."""
    plan = (kube.get("LLMService", name) or {})["status"]["plan"]
    return " ".join(note for note in plan["notes"] if "pod-security.kubernetes.io/enforce" in note)


@pytest.mark.parametrize("stem", ["vllm-awq", "tgi-online-int8-two-gpus"])
def test_an_engine_image_that_cannot_be_pulled_is_named(kube: Kube, stem: str) -> None:
    """The sandbox has no way to a registry."""
    body = resource(ROOT / "manifests" / "examples" / f"{stem}.yaml")
    name = kube.create(body)["metadata"]["name"]
    message = kube.wait_reason(name, "ImagePullFailed", seconds=60)["message"]
    assert _image(kube, name) in message
    assert "spec.pod.imagePullSecrets" in message


def _image(kube: Kube, name: str) -> str:
    image: str = (kube.get("LLMService", name) or {})["status"]["plan"]["image"]
    return image
