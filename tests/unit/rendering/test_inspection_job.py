"""The Job that looks at a model: what it is given, what it is not, and when two services share one."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest
from llmservice.planning.facts import RegistrySettings
from llmservice.rendering.inspection_job import InspectionSettings, inspection_job, is_inspectable
from tests.builders import an_llmservice
from tests.unit.rendering.jobs import container, pod, variables

SETTINGS = InspectionSettings(image="ghcr.io/llmservice/operator:0.1.0", seconds=60)
HUB: dict[str, Any] = {"spec__model__uri": "hf://owner/name"}
TOKEN = {"name": "hub", "key": "token"}


def job(registry: RegistrySettings | None = None, settings: InspectionSettings = SETTINGS, **changes: Any) -> Manifest:
    return inspection_job(LLMService.parse(an_llmservice(**changes)), registry or RegistrySettings(), settings)


def name(**changes: Any) -> str:
    return str(job(**changes)["metadata"]["name"])


def test_it_is_bounded_in_time_tries_and_memory() -> None:
    spec = job(settings=InspectionSettings(image="a/b:1", seconds=120))["spec"]
    assert (spec["activeDeadlineSeconds"], spec["backoffLimit"], spec["ttlSecondsAfterFinished"]) == (135, 0, 3600)
    assert container(job())["resources"]["limits"].keys() == {"cpu", "memory", "ephemeral-storage"}
    assert "--timeout=45" in container(job())["args"]


def test_it_is_restricted_and_has_no_token_of_kubernetes() -> None:
    found = pod(job())
    assert found["automountServiceAccountToken"] is False
    assert found["restartPolicy"] == "Never"
    assert "serviceAccountName" not in found
    assert found["securityContext"]["runAsNonRoot"]
    assert found["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(job())["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def test_no_service_nor_deployment_selects_its_pod() -> None:
    found = job()
    assert NAME_LABEL not in found["metadata"]["labels"] | found["spec"]["template"]["metadata"]["labels"]
    assert found["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"] == "inspection"


def test_it_goes_with_the_service_that_asked_first() -> None:
    (owner,) = job()["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("LLMService", "chat", True)
    assert owner["uid"] == an_llmservice()["metadata"]["uid"]


def test_it_reads_the_claim_and_cannot_write_to_it() -> None:
    found = job(spec__model__uri="pvc://models/a/folder", spec__model__tokenSecretRef=TOKEN)
    assert pod(found)["volumes"][0]["persistentVolumeClaim"] == {"claimName": "models", "readOnly": True}
    assert container(found)["volumeMounts"] == [{"name": "models", "mountPath": "/models", "readOnly": True}]
    assert container(found)["args"][-1] == "pvc://models/a/folder"


def test_of_a_cache_of_the_hub_on_a_claim_it_reads_the_revision_and_the_file_of_the_quantization() -> None:
    uri = "pvc://models/hub?repo=acme/chat"
    found = job(spec__model={"uri": uri, "revision": "v1"}, spec__quantization="Q8_0")
    assert pod(found)["volumes"][0]["persistentVolumeClaim"] == {"claimName": "models", "readOnly": True}
    assert container(found)["args"][-3:] == ["--revision=v1", "--quantization=Q8_0", uri]


def test_a_claim_is_read_where_and_as_whom_the_user_says() -> None:
    """A claim that is bound by its first pod must not be bound where the engine cannot run."""
    terms: list[Any] = [{"matchExpressions": []}]
    node = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    chosen: dict[str, Any] = {
        "spec__pod__nodeSelector": {"zone": "a"},
        "spec__pod__affinity": {"nodeAffinity": node, "podAntiAffinity": {}},
        "spec__pod__tolerations": [{"key": "gpu", "operator": "Exists"}],
        "spec__pod__securityContext": {"runAsUser": 2000, "fsGroup": 0, "supplementalGroups": [7, 5]},
    }
    registry = RegistrySettings(tolerations=({"key": "team", "operator": "Exists"},))
    found = pod(job(registry, **chosen))
    assert found["nodeSelector"] == {"zone": "a"}
    assert found["affinity"].keys() == {"nodeAffinity"}
    assert [one["key"] for one in found["tolerations"]] == ["team", "gpu"]
    assert found["securityContext"].items() >= {"runAsUser": 2000, "runAsGroup": 65532, "fsGroup": 0}.items()
    assert found["securityContext"]["supplementalGroups"] == [5, 7]
    of_a_hub = pod(job(registry, **HUB, **chosen))
    assert (of_a_hub.get("nodeSelector"), of_a_hub.get("affinity")) == (None, None)
    assert [one["key"] for one in of_a_hub["tolerations"]] == ["team"]


def test_the_kubelet_hands_it_the_services_own_token() -> None:
    assert variables(job(**HUB)) == {}
    assert variables(job(**HUB, spec__model__tokenSecretRef=TOKEN)) == {"HF_TOKEN": {"secretKeyRef": TOKEN}}


def test_it_reaches_the_hub_as_engines_do_and_gets_nothing_else_of_theirs() -> None:
    registry = RegistrySettings(
        hf_endpoint="https://hub.example", proxies={"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".svc"}
    )
    own = [
        {"name": "HF_ENDPOINT", "value": "https://mine.example"},
        {"name": "https_proxy", "value": "http://q:1"},
        {"name": "SSL_CERT_FILE", "value": "/etc/company/ca.crt"},
        {"name": "OPENAI_API_KEY", "valueFrom": {"secretKeyRef": TOKEN}},
        {"name": "LD_PRELOAD", "value": "/x.so"},
    ]
    files = [
        {"path": "/etc/company/ca.crt", "configMapKeyRef": {"name": "company", "key": "ca"}},
        {"path": "/templates/chat.jinja", "secretKeyRef": {"name": "templates", "key": "chat"}},
    ]
    found = job(registry, **HUB, spec__engineOptions__env=own, spec__engineOptions__files=files)
    assert variables(found) == {
        "HF_ENDPOINT": "https://mine.example",
        "HTTPS_PROXY": "http://p:1",
        "NO_PROXY": ".svc",
        "https_proxy": "http://q:1",
        "SSL_CERT_FILE": "/etc/company/ca.crt",
    }
    assert [one["configMap"]["name"] for one in pod(found)["volumes"]] == ["company"]
    (mount,) = container(found)["volumeMounts"]
    assert (mount["mountPath"], mount["readOnly"]) == ("/etc/company/ca.crt", True)


def test_its_image_comes_from_the_mirror_with_all_pull_secrets() -> None:
    registry = RegistrySettings(mirrors={"ghcr.io": "registry.example/ghcr"}, pull_secrets=("all", "own"))
    found = job(registry, spec__pod__imagePullSecrets=[{"name": "own"}])
    assert container(found)["image"] == "registry.example/ghcr/llmservice/operator:0.1.0"
    assert pod(found)["imagePullSecrets"] == [{"name": "own"}, {"name": "all"}]


@pytest.mark.parametrize(
    ("changes", "arguments"),
    [
        ({"spec__model__revision": "v1"}, ["--revision=v1", "--quantization=auto"]),
        ({"spec__model__file": "-x.gguf"}, ["--file=-x.gguf"]),
        ({"spec__quantization": "Q8_0"}, ["--quantization=Q8_0"]),
    ],
)
def test_it_asks_for_what_the_service_says(changes: dict[str, Any], arguments: list[str]) -> None:
    args = container(job(**HUB, **changes))["args"]
    assert (args[0], args[-1]) == ("inspect", "hf://owner/name")
    assert args[4:-1] == arguments


def test_services_that_ask_for_the_same_share_a_job() -> None:
    replicas = {"metadata__name": "other", "metadata__uid": "u", "metadata__generation": 7, "spec__replicas": 100}
    assert name(**HUB) == name(**HUB, **replicas, spec__pod__labels={"a": "b"}, spec__maxModelLen=512)
    assert len(name()) <= 52


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata__namespace": "another"},
        {"spec__model__uri": "hf://owner/other"},
        {"spec__model__revision": "v1"},
        {"spec__model__file": "a.gguf"},
        {"spec__model__tokenSecretRef": TOKEN},
        {"spec__engineOptions__env": [{"name": "HF_ENDPOINT", "value": "https://mine.example"}]},
    ],
)
def test_whatever_may_change_the_answer_makes_another_job(changes: dict[str, Any]) -> None:
    assert name(**{**HUB, **changes}) != name(**HUB)


@pytest.mark.parametrize(
    ("uri", "can"), [("hf://a/b", True), ("a/b", True), ("pvc://c/d", True), ("s3://b/p", False), ("gs://b/p", False)]
)
def test_models_are_inspected_where_they_can_be(uri: str, can: bool) -> None:
    assert is_inspectable(LLMService.parse(an_llmservice(spec__model__uri=uri))) is can
