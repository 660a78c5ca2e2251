"""A model in an image, on a cluster that mounts images, and on one that drops such volumes without a word."""

from typing import Any

import pytest

from llmservice.objects.references import Manifest, Ref
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.scenarios.world import NAMESPACE, World

_IMAGE: dict[str, Any] = {"spec__model": {"uri": "oci://registry.example.com/chat:1", "file": "chat.gguf"}}


def volumes(world: World) -> list[Manifest]:
    """Those of the Deployment's pods."""
    found: list[Manifest] = world.get("Deployment")["spec"]["template"]["spec"]["volumes"]
    return found


def serves(world: World) -> bool:
    """Whether it is ready after its pods are."""
    world.reconcile()
    world.roll_out()
    world.reconcile()
    return bool(world.condition("Ready")["status"] == "True")


def drop_images(live: Manifest) -> None:
    """What an API server without the feature gate leaves of a pod template."""
    spec = live["spec"]["template"]["spec"]
    dropped = {volume["name"] for volume in spec["volumes"] if "image" in volume}
    spec["volumes"] = [volume for volume in spec["volumes"] if volume["name"] not in dropped]
    for container in spec["containers"]:
        container["volumeMounts"] = [each for each in container["volumeMounts"] if each["name"] not in dropped]


@pytest.fixture
def dropping(monkeypatch: pytest.MonkeyPatch) -> World:
    """A world with such an API server; `monkeypatch.undo()` turns the gate on."""
    world = World()

    def without_images(name: str) -> None:
        apply = getattr(InMemoryCluster, name)

        async def applied(cluster: InMemoryCluster, manifest: Manifest, *, manager: str) -> Manifest:
            live: Manifest = await apply(cluster, manifest, manager=manager)
            if live["kind"] != "Deployment":
                return live
            return cluster.edit(Ref("Deployment", NAMESPACE, live["metadata"]["name"]), drop_images)

        monkeypatch.setattr(InMemoryCluster, name, applied)

    without_images("apply_new")
    without_images("apply")
    world.apply(**_IMAGE)
    world.pass_once()
    return world


def test_a_cluster_that_mounts_images_gets_the_volume() -> None:
    world = World()
    world.apply(**_IMAGE)
    assert serves(world)
    assert {"reference": "registry.example.com/chat:1", "pullPolicy": "IfNotPresent"} in [
        volume.get("image") for volume in volumes(world)
    ]


def test_a_cluster_that_drops_the_volume_is_told_and_asked_again(dropping: World) -> None:
    for _ in range(4):
        assert dropping.pass_once()
    assert not any("image" in volume for volume in volumes(dropping))
    stalled = dropping.condition("Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", "RefusedByCluster")
    assert "ImageVolume" in stalled["message"]


def test_it_serves_when_the_gate_is_on(dropping: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert serves(dropping)
    assert any("image" in volume for volume in volumes(dropping))
    assert dropping.condition("Stalled") == {}


def test_an_edit_to_another_source_ends_it(dropping: World) -> None:
    dropping.apply()
    assert serves(dropping)
    assert dropping.condition("Stalled") == {}
