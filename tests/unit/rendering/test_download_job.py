"""The Job that downloads a model: one for all that want the same, bounded, and with no more than it needs."""

import dataclasses
from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.models.download_request import DownloadRequest
from llmservice.objects.names import INTENT_ANNOTATION, NAME_LABEL
from llmservice.objects.references import Manifest
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.facts import RegistrySettings
from llmservice.rendering.download_job import RESUMED_AT_MOST, DownloadSettings, download_job, job_name
from tests.builders import an_llmservice
from tests.unit.rendering.jobs import container, pod, variables

SETTINGS = DownloadSettings(image="ghcr.io/llmservice/operator:0.1.0")
GB = 10**9
CACHE = CachePlan(
    claim="models", request=DownloadRequest(uri="hf://owner/name", revision="v1"), expected_bytes=141 * GB
)
BUCKET = dataclasses.replace(CACHE, request=DownloadRequest(uri="s3://bucket/model"))
TOKEN = {"name": "hub", "key": "token"}
_WAYS: tuple[dict[str, Any], ...] = ({}, {"spec__model__tokenSecretRef": TOKEN})


def job(
    cache: CachePlan = CACHE,
    settings: DownloadSettings = SETTINGS,
    registry: RegistrySettings | None = None,
    **more: Any,
) -> Manifest:
    return download_job(LLMService.parse(an_llmservice(**more)), cache, registry or RegistrySettings(), settings)


def test_services_that_want_the_same_share_its_name_and_others_do_not() -> None:
    names = {job(metadata__name=name)["metadata"]["name"] for name in ("one", "two")}
    assert names == {job_name("ml", CACHE)}
    others = (
        dataclasses.replace(CACHE, claim="other"),
        dataclasses.replace(CACHE, request=DownloadRequest(uri="hf://owner/name", revision="v2")),
        BUCKET,
    )
    assert len({job(cache)["metadata"]["name"] for cache in others} | names) == 4
    assert job(metadata__namespace="other")["metadata"]["name"] not in names


def test_in_which_way_it_was_asked_for_stands_beside_the_name() -> None:
    plain, other = (job(**more)["metadata"] for more in _WAYS)
    assert plain["name"] == other["name"]
    assert plain["annotations"][INTENT_ANNOTATION] != other["annotations"][INTENT_ANNOTATION]


@pytest.mark.parametrize(
    ("size", "bandwidth", "seconds"),
    [
        (0, 0, 2 * 86_400),
        (5 * GB, 0, 6 * 3600),
        (141 * GB, 0, 141_000),
        (5000 * GB, 0, 7 * 86_400),
        (141 * GB, 10**6, 282_000),
    ],
)
def test_it_has_the_time_that_its_size_needs(size: int, bandwidth: int, seconds: int) -> None:
    found = job(dataclasses.replace(CACHE, expected_bytes=size), dataclasses.replace(SETTINGS, bandwidth=bandwidth))
    assert found["spec"]["activeDeadlineSeconds"] == seconds
    assert f"--timeout={seconds - 120}" in container(found)["args"]


def test_it_is_resumed_a_few_times_and_disruptions_do_not_count() -> None:
    spec = job()["spec"]
    assert (spec["backoffLimit"], pod(job())["restartPolicy"]) == (RESUMED_AT_MOST, "Never")
    (rule,) = spec["podFailurePolicy"]["rules"]
    assert (rule["action"], rule["onPodConditions"][0]["type"]) == ("Ignore", "DisruptionTarget")
    assert spec["podReplacementPolicy"] == "Failed"
    annotations = spec["template"]["metadata"]["annotations"]
    assert annotations["karpenter.sh/do-not-disrupt"] == "true"


def test_it_is_restricted_and_writes_to_its_claim_alone() -> None:
    found = pod(job())
    assert found["automountServiceAccountToken"] is False
    assert found["securityContext"]["runAsNonRoot"]
    assert container(job())["securityContext"]["readOnlyRootFilesystem"]
    assert {mount["mountPath"] for mount in container(job())["volumeMounts"]} == {"/models", "/tmp"}  # noqa: S108
    (claim,) = [one for one in found["volumes"] if "persistentVolumeClaim" in one]
    assert claim["persistentVolumeClaim"] == {"claimName": "models"}
    assert container(job())["resources"]["limits"].keys() == {"cpu", "memory", "ephemeral-storage"}


def test_no_service_nor_deployment_selects_its_pod() -> None:
    labels = job()["metadata"]["labels"] | job()["spec"]["template"]["metadata"]["labels"]
    assert NAME_LABEL not in labels
    assert labels["app.kubernetes.io/component"] == "download"


def test_it_writes_as_the_user_says_or_so_that_a_new_volume_can_be_written() -> None:
    assert pod(job())["securityContext"].items() >= {"runAsUser": 65532, "fsGroup": 65532}.items()
    own: dict[str, Any] = {"spec__pod__securityContext": {"runAsUser": 2000, "fsGroup": 7}}
    assert pod(job(**own))["securityContext"].items() >= {"runAsUser": 2000, "fsGroup": 7}.items()


def test_it_runs_where_the_service_will_because_the_claim_may_be_bound_there() -> None:
    chosen: dict[str, Any] = {
        "spec__pod__nodeSelector": {"zone": "a"},
        "spec__pod__tolerations": [{"key": "gpu", "operator": "Exists"}],
    }
    found = pod(job(**chosen))
    assert (found["nodeSelector"], found["tolerations"]) == ({"zone": "a"}, [{"key": "gpu", "operator": "Exists"}])


def test_it_tolerates_what_the_replicas_do_whose_nodes_alone_may_reach_the_volume() -> None:
    taint = {"key": "nvidia.com/gpu", "operator": "Exists"}
    own = {"key": "team", "operator": "Exists"}
    service = LLMService.parse(an_llmservice(spec__pod__tolerations=[own]))
    found = download_job(service, CACHE, RegistrySettings(), SETTINGS, [own, taint])
    assert pod(found)["tolerations"] == [own, taint]


ENV = [
    {"name": "HF_ENDPOINT", "value": "https://mine.example"},
    {"name": "SSL_CERT_FILE", "value": "/etc/company/ca.crt"},
    {"name": "AWS_SECRET_ACCESS_KEY", "valueFrom": {"secretKeyRef": TOKEN}},
    {"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": "/etc/cloud/key.json"},
    {"name": "OPENAI_API_KEY", "valueFrom": {"secretKeyRef": TOKEN}},
]
FILES = [
    {"path": "/etc/company/ca.crt", "configMapKeyRef": {"name": "company", "key": "ca"}},
    {"path": "/etc/cloud/key.json", "secretKeyRef": {"name": "cloud", "key": "key"}},
    {"path": "/etc/template.jinja", "configMapKeyRef": {"name": "templates", "key": "chat"}},
]


@pytest.mark.parametrize(
    ("cache", "expected", "files"),
    [
        (CACHE, {"HF_ENDPOINT", "SSL_CERT_FILE"}, {"/etc/company/ca.crt"}),
        (
            BUCKET,
            {"HF_ENDPOINT", "SSL_CERT_FILE", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS"},
            {"/etc/company/ca.crt", "/etc/cloud/key.json"},
        ),
    ],
)
def test_it_gets_what_says_how_to_reach_the_model_and_nothing_else(
    cache: CachePlan, expected: set[str], files: set[str]
) -> None:
    found = job(cache, spec__engineOptions__env=ENV, spec__engineOptions__files=FILES)
    assert variables(found).keys() == {"HOME", *expected}
    mounted = {mount["mountPath"] for mount in container(found)["volumeMounts"] if mount.get("readOnly")}
    assert mounted == files


def test_the_token_is_handed_on_by_the_kubelet() -> None:
    assert variables(job(spec__model__tokenSecretRef=TOKEN))["HF_TOKEN"] == {"secretKeyRef": TOKEN}


def test_a_bucket_is_read_under_the_services_own_account_whose_token_stays_away() -> None:
    account: dict[str, Any] = {"spec__pod__serviceAccountName": "reader"}
    assert pod(job(BUCKET, **account))["serviceAccountName"] == "reader"
    assert pod(job(BUCKET, **account))["automountServiceAccountToken"] is False
    assert "serviceAccountName" not in pod(job(**account))


def test_what_is_downloaded_stands_in_its_arguments() -> None:
    request = DownloadRequest(uri="hf://owner/name", format="gguf", file="m.gguf", quantization="Q4_0")
    found = container(job(dataclasses.replace(CACHE, request=request), dataclasses.replace(SETTINGS, bandwidth=5)))
    expected = {"--format=gguf", "--file=m.gguf", "--quantization=Q4_0", "--bandwidth=5", "--root=/models"}
    assert expected <= {*found["args"]}
    assert (found["args"][0], found["args"][-1]) == ("download", "hf://owner/name")
