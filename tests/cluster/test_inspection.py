"""A model is looked at by a real Job in a namespace that enforces the restricted standard: on a claim and on a hub."""

import asyncio
import functools
from collections.abc import Iterator

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.transport.connection import connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.models.inspection_failure import FailureReason
from llmservice.planning.facts import RegistrySettings
from llmservice.reconcilers.inspections import Inspected, Inspections
from llmservice.rendering.inspection_job import InspectionSettings, inspection_job
from sandbox import Sandbox
from sandbox.tiny_model import tiny_model
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_image import IMAGE, operator_archive
from tests.cluster.operator_process import Operator
from tests.cluster.services import TINY, a_tiny_service
from tests.local_hub.local_hub import LocalHub, local_hub
from tests.local_hub.repository import Fault, Repository

# The host reaches the sandbox's pods, and they reach the hub on it.
pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

SETTINGS = InspectionSettings(image=IMAGE, seconds=60)
PARAMETERS = 113_856
"""Of the tiny model."""
TOKEN = "hf_of-nobody"  # noqa: S105  (no secret)
SECRET = {"name": "hub", "key": "token"}


def within(seconds: int, image: str = IMAGE) -> InspectionSettings:
    """Settings with less time."""
    return InspectionSettings(image=image, seconds=seconds)


@pytest.fixture(scope="module")
def image(box: Sandbox) -> None:
    """The operator's image on the sandbox's node."""
    assert box.load_image(operator_archive()) == [IMAGE]


@pytest.fixture(scope="module")
def hub(box: Sandbox) -> Iterator[LocalHub]:
    """A hub that pods reach."""
    files = {"tiny-Q4_0.gguf": tiny_model()}
    repositories = {
        "tiny/open": Repository(files=files),
        "tiny/gated": Repository(files=files, gated="manual", token=TOKEN),
    }
    with local_hub(repositories, host=box.bridge_address) as running:
        yield running


def asked_of(kube: Kube, name: str, model: Body) -> Body:
    """An LLMService that no operator can serve, to be looked at."""
    spec = a_tiny_service(name, model=model, engineOptions={"version": "of-no-catalogue"})
    return kube.create(spec)


async def looked_at(
    kube: Kube, service: Body, hub: LocalHub | None = None, settings: InspectionSettings = SETTINGS
) -> Inspected:
    """What an inspection with an administrator's rights tells."""
    registry, asked = RegistrySettings(hf_endpoint=hub.url if hub else ""), LLMService.parse(service)
    async with connect(await load_credentials(kubeconfig=str(kube.kubeconfig))) as connection:
        inspections = Inspections(cluster=ApiServer(connection), registry=registry, settings=settings)
        found = await inspections.facts_of(asked)
        while found.again_seconds is not None:
            await asyncio.sleep(found.again_seconds)
            found = await inspections.facts_of(asked)
        return found


@pytest.mark.usefixtures("image")
def test_a_model_on_a_claim_is_known_by_its_header(quiet: Kube, box: Sandbox) -> None:
    box.model_volume(quiet.namespace, "models")
    found = asyncio.run(looked_at(quiet, asked_of(quiet, "claim", {"uri": TINY})))
    assert found.facts is not None, found
    assert found.facts.parameters == PARAMETERS


@pytest.mark.usefixtures("image")
def test_a_file_that_is_not_on_the_claim_is_missed_by_name_and_the_job_goes(quiet: Kube, box: Sandbox) -> None:
    box.model_volume(quiet.namespace, "models")
    found = asyncio.run(looked_at(quiet, asked_of(quiet, "absent", {"uri": "pvc://models/absent.gguf"})))
    assert found.failure is not None, found
    assert found.failure.reason is FailureReason.FILE_MISSING
    quiet.wait(lambda: quiet.list("Job") == [], lambda: quiet.list("Job"))


@pytest.mark.usefixtures("image")
def test_a_model_on_a_hub_is_asked_for_once_for_all(quiet: Kube, hub: LocalHub) -> None:
    hub.seen.clear()
    first, second = (asked_of(quiet, name, {"uri": "hf://tiny/open"}) for name in ("first", "second"))
    for service in (first, second):
        found = asyncio.run(looked_at(quiet, service, hub))  # each as an operator that has just started
        assert found.facts is not None, found
        assert found.facts.parameters == PARAMETERS
    assert len(hub.asked("hub")) == 2
    assert len(quiet.list("Job")) == 1


@pytest.mark.usefixtures("image")
def test_a_gated_model_needs_the_services_own_token(quiet: Kube, hub: LocalHub) -> None:
    model: Body = {"uri": "hf://tiny/gated"}
    found = asyncio.run(looked_at(quiet, asked_of(quiet, "stranger", model), hub))
    assert found.failure is not None, found
    assert found.failure.reason is FailureReason.GATED
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hub"}, "stringData": {"token": TOKEN}}
    quiet.create(secret)
    found = asyncio.run(looked_at(quiet, asked_of(quiet, "friend", {**model, "tokenSecretRef": SECRET}), hub))
    assert found.facts is not None, found
    assert (found.facts.parameters, found.facts.gated) == (PARAMETERS, True)


@pytest.mark.slow
@pytest.mark.usefixtures("image")
def test_a_hub_that_does_not_answer_is_left_in_time(quiet: Kube, hub: LocalHub) -> None:
    hub.faults = [Fault("tiny/slow", seconds=120)]
    found = asyncio.run(looked_at(quiet, asked_of(quiet, "slow", {"uri": "hf://tiny/slow"}), hub, within(20)))
    assert (found.facts, found.failure is not None or bool(found.note)) == (None, True)


@pytest.mark.usefixtures("image")
@pytest.mark.parametrize(("limit", "word"), [({"pods": "0"}, "quota"), ({"count/jobs.batch": "0"}, "quota")])
def test_a_quota_in_the_way_is_named(quiet: Kube, limit: dict[str, str], word: str) -> None:
    metadata = {"name": "small"}
    quiet.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": limit}})
    quiet.wait(lambda: quiet.list("ResourceQuota")[0].get("status"), lambda: quiet.list("ResourceQuota"))
    found = asyncio.run(looked_at(quiet, asked_of(quiet, "small", {"uri": "hf://tiny/open"}), settings=within(10)))
    assert (found.facts, word in found.note) == (None, True), found


@pytest.mark.slow
@pytest.mark.usefixtures("image")
def test_an_image_that_cannot_be_pulled_is_named(quiet: Kube) -> None:
    service = asked_of(quiet, "unpulled", {"uri": "hf://tiny/open"})
    settings = within(15, image="localhost:1/operator:1")
    assert "localhost:1/operator:1" in asyncio.run(looked_at(quiet, service, settings=settings)).note


def test_a_job_of_that_name_by_somebody_else_is_left_alone(quiet: Kube) -> None:
    service = asked_of(quiet, "forged", {"uri": "hf://tiny/open"})
    job = inspection_job(LLMService.parse(service), RegistrySettings(), SETTINGS)
    job["spec"]["template"]["spec"]["containers"][0]["command"] = ["sh", "-c", "echo '{}' > /dev/termination-log"]
    made = quiet.create({**job, "spec": {**job["spec"], "suspend": True}})
    found = asyncio.run(looked_at(quiet, service))
    assert made["metadata"]["name"] in found.note
    (left,) = quiet.list("Job")
    assert left["metadata"]["uid"] == made["metadata"]["uid"]


@pytest.fixture
def inspecting(operator: Operator, hub: LocalHub) -> Iterator[Operator]:
    """The operator, with inspections by its own image at that hub; as it was afterwards."""
    with operator.told(LLMSERVICE_INSPECTION_IMAGE=IMAGE, LLMSERVICE_HF_ENDPOINT=hub.url):
        yield operator


@pytest.mark.usefixtures("image", "inspecting", "models")
def test_a_service_is_inspected_before_it_starts_and_refused_before_it_takes_anything(kube: Kube) -> None:
    kube.create(a_tiny_service("known"))
    kube.create(a_tiny_service("gated", model={"uri": "hf://tiny/gated"}))
    kube.create(a_tiny_service("absent", model={"uri": "pvc://models/absent.gguf"}))
    kube.wait_ready("known")
    kube.wait_reason("gated", "ModelAccessDenied")
    kube.wait_reason("absent", "ModelNotFound")
    for name in ("gated", "absent"):
        assert kube.get("Deployment", name) is None
        assert kube.list("Pod", f"llmservice.dev/name={name}") == []


@pytest.mark.usefixtures("image", "inspecting", "models")
def test_a_service_that_says_never_is_not_inspected(kube: Kube) -> None:
    kube.create(a_tiny_service("unseen", model={"uri": TINY, "inspect": "Never"}))
    kube.wait_ready("unseen")
    kube.wait(functools.partial(_has_no_job, kube), lambda: kube.list("Job"))


def _has_no_job(kube: Kube) -> bool:
    return kube.list("Job") == []
