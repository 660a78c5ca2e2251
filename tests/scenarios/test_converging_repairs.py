"""What somebody adds beside our own elements of a list that the API server merges by key."""

from typing import Any

import pytest

from llmservice.objects.references import Manifest, Ref
from tests.scenarios.world import NAMESPACE, World

SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
ADDED: list[tuple[str, Any, Any]] = [
    ("hostAliases", {"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.2", "hostnames": ["b"]}),
    ("topologySpreadConstraints", SPREAD, {**SPREAD, "topologyKey": "rack"}),
    ("topologySpreadConstraints", SPREAD, {**SPREAD, "whenUnsatisfiable": "DoNotSchedule"}),
    ("imagePullSecrets", {"name": "own"}, {"name": "theirs"}),
]


def pod_spec(world: World) -> Manifest:
    spec: Manifest = world.get("Deployment")["spec"]["template"]["spec"]
    return spec


def edit_pods(world: World, field: str, items: list[Any]) -> None:
    def edit(live: Manifest) -> None:
        live["spec"]["template"]["spec"][field] = items

    world.cluster.edit(Ref("Deployment", NAMESPACE, "chat"), edit)


@pytest.mark.parametrize(("field", "own", "added"), ADDED)
def test_an_element_that_somebody_adds_beside_ours_is_left_alone(field: str, own: Any, added: Any) -> None:
    world = World().serving(**{f"spec__pod__{field}": [own]})
    edit_pods(world, field, [*pod_spec(world)[field], added])
    world.reconcile()
    assert [write for write in world.writes() if "Deployment" in write] == []
    assert added in pod_spec(world)[field]


@pytest.mark.parametrize(("field", "own", "added"), ADDED)
def test_an_element_of_ours_that_somebody_replaces_comes_back_once(field: str, own: Any, added: Any) -> None:
    world = World().serving(**{f"spec__pod__{field}": [own]})
    ours = pod_spec(world)[field]
    edit_pods(world, field, [added])
    for _ in range(3):
        world.reconcile()
    assert world.writes().count("apply Deployment chat") == 1
    assert ours[0] in pod_spec(world)[field]
