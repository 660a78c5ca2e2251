"""The Job of `--in-cluster`: what a restricted namespace admits, what it may reach, how long it stays."""

import pytest

from llmservice.bench.job import GRACE_SECONDS, IMAGE, KEY_FOLDER, JobSettings, KeySecret, bench_job
from llmservice.objects.references import Manifest


def a_job(*arguments: str, trace: str = "", **settings: object) -> Manifest:
    made = JobSettings(**settings)  # type: ignore[arg-type]
    return bench_job("ml", ["http://chat.ml.svc", *arguments], made, at_most_seconds=600, trace=trace)


def pod(job: Manifest) -> Manifest:
    found: Manifest = job["spec"]["template"]["spec"]
    return found


def container(job: Manifest) -> Manifest:
    (found,) = pod(job)["containers"]
    return dict(found)


def test_it_is_restricted_and_has_no_token() -> None:
    job = a_job()
    assert pod(job)["automountServiceAccountToken"] is False
    assert pod(job)["securityContext"]["runAsNonRoot"] is True
    assert pod(job)["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    security = container(job)["securityContext"]
    assert (security["readOnlyRootFilesystem"], security["allowPrivilegeEscalation"]) == (True, False)
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert container(job)["image"] == IMAGE


def test_it_runs_once_ends_and_goes() -> None:
    spec = a_job()["spec"]
    assert spec["backoffLimit"] == 0
    assert spec["activeDeadlineSeconds"] > 600 + GRACE_SECONDS
    assert 0 < spec["ttlSecondsAfterFinished"] <= 3600


def test_two_jobs_have_two_names() -> None:
    assert a_job()["metadata"]["name"] != a_job()["metadata"]["name"]


def test_it_asks_for_cpu_and_is_bounded_in_memory_alone() -> None:
    resources = container(a_job(cpu="3", memory="2Gi"))["resources"]
    assert resources["requests"] == {"cpu": "3", "memory": "2Gi", "ephemeral-storage": "64Mi"}
    assert resources["limits"]["memory"] == "2Gi"
    assert "cpu" not in resources["limits"]


@pytest.mark.parametrize(("entry", "items"), [("", None), ("team", [{"key": "team", "path": "team"}])])
def test_a_key_is_a_file_of_its_secret(entry: str, items: object) -> None:
    job = a_job(key=KeySecret(name="clients", entry=entry))
    (secret,) = (each["secret"] for each in pod(job)["volumes"] if each["name"] == "key")
    assert (secret["secretName"], secret.get("items")) == ("clients", items)
    assert KEY_FOLDER in {each["mountPath"] for each in container(job)["volumeMounts"]}


def test_without_key_and_trace_nothing_but_scratch_is_mounted() -> None:
    assert [each["name"] for each in container(a_job())["volumeMounts"]] == ["scratch"]
    assert a_job()["spec"]["template"]["metadata"]["annotations"] == {}


def test_the_kubelet_expands_nothing_in_an_argument() -> None:
    assert container(a_job("--model=$(HOME)"))["args"][-1] == "--model=$$(HOME)"


def test_pull_secrets_are_named() -> None:
    assert pod(a_job(pull_secrets=("a", "b")))["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}]
