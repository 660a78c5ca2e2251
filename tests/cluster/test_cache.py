"""A model is downloaded to a claim by a real Job, once and before a device is asked for, and served from there."""

import functools
from collections.abc import Callable, Iterator

import pytest

from llmservice.models.download_request import HUB_FOLDER
from sandbox import Sandbox
from sandbox.tiny_model import tiny_model
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_image import IMAGE, operator_archive
from tests.cluster.operator_process import Operator
from tests.cluster.services import ask, event_reasons, on_gpu
from tests.local_hub.local_hub import LocalHub, local_hub
from tests.local_hub.repository import Fault, Repository

# The host reaches the sandbox's pods, and they reach the hub on it.
pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

FILE = "tiny-Q4_0.gguf"
MB = 10**6
SMALL, LARGE = 48 * MB, 1024 * MB
MODEL: Body = {"uri": "hf://tiny/open", "file": FILE, "cache": {"claim": {"name": "models"}}}
OURS = "llmservice.dev/name"
IN_FLIGHT = 8 * 8 * 2**20
"""Bytes: as many parts of 8 MiB may be on their way when a download is killed."""

Claim = Callable[..., None]


def padded(size: int) -> bytes:
    """The tiny model, with zeros behind it that no engine reads."""
    return tiny_model().ljust(size, b"\0")


@pytest.fixture(scope="module")
def image(box: Sandbox) -> None:
    """The operator's image on the sandbox's node."""
    assert box.load_image(operator_archive()) == [IMAGE]


@pytest.fixture
def hub(box: Sandbox) -> Iterator[LocalHub]:
    """A hub that pods reach."""
    with local_hub({"tiny/open": Repository(files={FILE: padded(SMALL)})}, host=box.bridge_address) as running:
        yield running


@pytest.fixture
def downloading(operator: Operator, hub: LocalHub, image: None) -> Iterator[Operator]:  # noqa: ARG001  (it must be there)
    """The operator, with downloads by its own image from that hub; as it was afterwards."""
    with operator.told(LLMSERVICE_DOWNLOAD_IMAGE=IMAGE, LLMSERVICE_HF_ENDPOINT=hub.url):
        yield operator


@pytest.fixture
def claim(kube: Kube, box: Sandbox) -> Iterator[Claim]:
    """Makes claims that can be written to, full after so many megabytes where that is said."""
    volumes = []

    def make(name: str = "models", *, megabytes: int | None = None, made: bool = True) -> None:
        volumes.append(box.cache_volume(kube.namespace, name, megabytes=megabytes))
        if made:
            kube.create(a_claim(name))

    yield make
    for volume in volumes:
        kube.kubectl("delete", "--wait=false", f"persistentvolume/{volume}")


def a_claim(name: str) -> Body:
    spec = {"accessModes": ["ReadWriteMany"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def the_job(kube: Kube) -> Body:
    """The only one."""
    (job,) = kube.list("Job")
    return job


def job_pods(kube: Kube) -> list[Body]:
    """Pods of the Job that run."""
    pods = kube.list("Pod", "app.kubernetes.io/component=download")
    return [pod for pod in pods if pod.get("status", {}).get("phase") == "Running"]


def served(hub: LocalHub, size: int) -> bool:
    return hub.served >= size


def ready_condition(kube: Kube, name: str) -> Body:
    """What the service says of itself."""
    service = kube.get("LLMService", name)
    assert service is not None
    conditions: list[Body] = service.get("status", {}).get("conditions", [])
    return next((item for item in conditions if item["type"] == "Ready"), {})


def takes_nothing(kube: Kube) -> bool:
    """Whether nobody has asked for a device yet."""
    return kube.list("Deployment") == [] and kube.list("Pod", OURS) == []


def three_services(kube: Kube) -> list[str]:
    """Three that want the same model, with four replicas, each on a device of its own."""
    for name, replicas in (("one", 1), ("two", 1), ("three", 2)):
        kube.create(on_gpu(1, name, model=MODEL, replicas=replicas))
    return ["one", "two", "three"]


@pytest.mark.usefixtures("downloading")
def test_three_services_with_four_replicas_take_one_download_and_no_device_before(
    kube: Kube, hub: LocalHub, claim: Claim
) -> None:
    claim()
    hub.bytes_per_second = 0.3 * MB
    names = three_services(kube)
    kube.wait(lambda: served(hub, SMALL // 4), lambda: hub.served, seconds=90)
    kube.wait(lambda: "%" in ready_condition(kube, "one")["message"], lambda: ready_condition(kube, "one"))
    assert takes_nothing(kube)
    hub.bytes_per_second = 0
    for name in names:
        kube.wait_ready(name)
    assert len(kube.list("Job")) == 1
    assert SMALL <= hub.served <= SMALL + MB
    assert ask(kube, "three")["choices"]
    asked = len(hub.seen)
    (pod, *others) = kube.list("Pod", OURS)
    assert len(others) == 3
    (volume,) = [one for one in pod["spec"]["volumes"] if "persistentVolumeClaim" in one]
    assert volume["persistentVolumeClaim"] == {"claimName": "models", "readOnly": True}
    assert any(HUB_FOLDER in argument for argument in pod["spec"]["containers"][0]["args"])
    kube.kubectl("scale", "llmservice/one", "--replicas=0")
    kube.kubectl("scale", "llmservice/one", "--replicas=1")
    kube.wait_ready("one")
    assert (len(kube.list("Job")), len(hub.seen)) == (1, asked)
    assert event_reasons(kube, "one").count("DownloadFailed") == 0


@pytest.mark.slow
@pytest.mark.usefixtures("downloading")
def test_a_killed_download_goes_on_where_it_was(kube: Kube, hub: LocalHub, claim: Claim) -> None:
    claim()
    killed_and_resumed(kube, hub, SMALL, (0.4,))


@pytest.mark.slow
@pytest.mark.usefixtures("downloading")
def test_a_gigabyte_is_downloaded_once_through_three_kills(kube: Kube, hub: LocalHub, claim: Claim) -> None:
    claim()
    hub.repositories["tiny/open"] = Repository(files={FILE: padded(LARGE)})
    killed_and_resumed(kube, hub, LARGE, (0.25, 0.5, 0.75))


def killed_and_resumed(kube: Kube, hub: LocalHub, size: int, points: tuple[float, ...]) -> None:
    """Kill the pod of the Job when so much was served; nothing of it comes twice but what was on its way."""
    names = three_services(kube)
    for point in points:
        hub.bytes_per_second = size / 200
        kube.wait(lambda: job_pods(kube) or None, lambda: kube.list("Pod"), seconds=180)
        kube.wait(functools.partial(served, hub, int(size * point)), lambda: hub.served, seconds=180)
        (pod,) = job_pods(kube)
        kube.kubectl("delete", "--force", "--grace-period=0", f"pod/{pod['metadata']['name']}")
        assert takes_nothing(kube)
    hub.bytes_per_second = 0
    for name in names:
        kube.wait_ready(name, seconds=300)
    assert len(kube.list("Job")) == 1
    assert size <= hub.served <= size + len(points) * IN_FLIGHT
    assert ask(kube, "one")["choices"]


@pytest.mark.slow
@pytest.mark.usefixtures("downloading")
def test_wrong_bytes_are_never_served(kube: Kube, hub: LocalHub, claim: Claim) -> None:
    claim()
    hub.faults = [Fault("other/", wrong=True)]
    kube.create(on_gpu(1, "chat", model=MODEL))
    kube.wait_reason("chat", "DownloadFailed", seconds=120)
    assert takes_nothing(kube)
    hub.faults = []
    kube.wait_ready("chat", seconds=180)
    assert ask(kube)["choices"]


@pytest.mark.usefixtures("downloading")
def test_a_full_disk_is_told_with_both_numbers(kube: Kube, claim: Claim) -> None:
    claim(megabytes=16)
    kube.create(on_gpu(1, "chat", model=MODEL))
    kube.wait_reason("chat", "ClaimTooSmall", seconds=120)
    message = ready_condition(kube, "chat")["message"]
    assert "48 MB" in message
    assert "are free" in message
    assert takes_nothing(kube)


@pytest.mark.usefixtures("downloading")
def test_a_model_that_is_not_there_takes_nothing(kube: Kube, claim: Claim) -> None:
    claim()
    kube.create(on_gpu(1, "chat", model={**MODEL, "uri": "hf://tiny/absent"}))
    kube.wait_reason("chat", "ModelNotFound", seconds=120)
    assert takes_nothing(kube)


@pytest.mark.slow
@pytest.mark.usefixtures("downloading")
def test_a_claim_is_made_with_its_service_and_goes_with_it(kube: Kube, claim: Claim) -> None:
    claim("chat-weights", made=False)
    kube.create(
        on_gpu(1, "chat", model={**MODEL, "cache": {"claim": {"size": "1Gi"}}}, rollout={"strategy": "Replace"})
    )
    kube.wait_ready("chat", seconds=180)
    live = kube.get("PersistentVolumeClaim", "chat-weights")
    assert live is not None
    assert live["status"]["phase"] == "Bound"
    service = kube.get("LLMService", "chat")
    assert service is not None
    assert service["status"]["weights"]["claimUid"] == live["metadata"]["uid"]
    kube.kubectl("delete", "llmservice/chat")
    kube.wait(lambda: kube.get("PersistentVolumeClaim", "chat-weights") is None, lambda: kube.list("Pod"), seconds=60)
