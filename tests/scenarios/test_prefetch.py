"""A model that was downloaded before its service was applied: nothing is made or downloaded twice."""

from typing import Any

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cli.cache_prefetch import prefetched
from llmservice.cli.planner_options import planner_from
from llmservice.planning.facts import RegistrySettings
from llmservice.rendering.download_job import DownloadSettings
from tests.builders import an_llmservice
from tests.scenarios.downloading import PATH, SHARED, DownloadWorld

_SETTINGS = DownloadSettings(image="registry.example/operator:1")
_OWNED: dict[str, Any] = {**SHARED, "spec__model__cache": {"claim": {"size": "200Gi"}}}


def prefetch(world: DownloadWorld, **changes: Any) -> None:
    """What the command makes, in the cluster."""
    service = LLMService.parse({**an_llmservice(**changes), "status": None})
    cache = planner_from(environment={})(service).cache
    assert cache is not None
    for manifest in prefetched(service, cache, RegistrySettings(), _SETTINGS):
        world.cluster.create(manifest)


def test_a_service_finds_claim_and_model_of_a_prefetch_that_is_done() -> None:
    world = DownloadWorld()
    prefetch(world, **_OWNED)
    world.answers()
    world.written()
    world.apply(**_OWNED)
    world.serves()
    (container,) = world.get("Deployment")["spec"]["template"]["spec"]["containers"]
    assert f"/models/{PATH}" in container["args"]
    written = world.written()
    assert (written["post Job"], written["post PersistentVolumeClaim"]) == (0, 0)


def test_a_service_waits_for_a_prefetch_that_runs() -> None:
    world = DownloadWorld()
    prefetch(world, **_OWNED)
    world.written()
    world.apply(**_OWNED)
    world.passes()
    assert world.condition("WeightsReady")["reason"] == "Downloading"
    assert world.written()["post Job"] == 0
    world.answers()
    world.serves()
    assert world.condition("Ready")["status"] == "True"


def test_what_belongs_to_nobody_yet_has_no_owner() -> None:
    world = DownloadWorld()
    prefetch(world, **_OWNED)
    assert "ownerReferences" not in world.job()["metadata"]
    assert "ownerReferences" not in world.get("PersistentVolumeClaim", "chat-weights")["metadata"]
