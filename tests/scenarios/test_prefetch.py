"""A model that was downloaded before its service was applied: nothing is made or downloaded twice."""

from typing import Any

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cli.cache_prefetch import prefetched
from llmservice.cli.planner_options import planner_from
from llmservice.objects.references import ref_of
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


def test_a_service_takes_the_claim_of_a_prefetch_and_its_own_download_finds_the_model() -> None:
    world = DownloadWorld()
    prefetch(world, **_OWNED)
    (before,) = world.jobs()
    world.cluster.remove(ref_of(before))
    world.written()
    world.apply(**_OWNED)
    world.passes()
    world.answers()
    world.serves()
    (container,) = world.get("Deployment")["spec"]["template"]["spec"]["containers"]
    assert f"/models/{PATH}" in container["args"]
    assert world.written()["post PersistentVolumeClaim"] == 0


def test_the_download_of_a_prefetch_asks_for_the_same_in_the_same_way() -> None:
    world = DownloadWorld()
    prefetch(world, **_OWNED)
    world.apply(**_OWNED)
    world.passes()
    ours, theirs = sorted(world.jobs(), key=lambda job: str(job["metadata"]["name"]), reverse=True)
    assert ours["metadata"]["name"] != theirs["metadata"]["name"]
    containers = [job["spec"]["template"]["spec"]["containers"] for job in (ours, theirs)]
    assert containers[0] == containers[1]


def test_what_belongs_to_nobody_yet_has_no_owner() -> None:
    world = DownloadWorld()
    prefetch(world, **_OWNED)
    assert "ownerReferences" not in world.job()["metadata"]
    assert "ownerReferences" not in world.get("PersistentVolumeClaim", "chat-weights")["metadata"]
