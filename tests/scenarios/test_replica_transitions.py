"""The twelve transitions among fixed, autoscaled, external and suspended: none lowers replicas but to a new bound.

"autoscaled" and "external" are played by their field managers, which write the Deployment's `/scale`.
"""

from collections.abc import Callable

import pytest

from llmservice.converging.references import Ref
from llmservice.converging.replicas import AUTOSCALER, OPERATOR
from tests.scenarios.world import NAMESPACE, World

HPA = "kube-controller-manager"


def be_fixed(world: World) -> None:
    world.apply(spec__replicas=4)


def be_autoscaled(world: World) -> None:
    world.apply()
    world.reconcile()
    world.scale(max(4, world.get("Deployment")["spec"]["replicas"]), AUTOSCALER)


def be_external(world: World) -> None:
    world.apply()
    world.reconcile()
    world.scale(max(4, world.get("Deployment")["spec"]["replicas"]), HPA)


def be_suspended(world: World) -> None:
    world.apply(spec__suspend=True)


STATES: dict[str, Callable[[World], None]] = {
    "fixed": be_fixed,
    "autoscaled": be_autoscaled,
    "external": be_external,
    "suspended": be_suspended,
}
TRANSITIONS = [(before, after) for before in STATES for after in STATES if before != after]


def test_there_are_twelve_transitions() -> None:
    assert len(TRANSITIONS) == 12


@pytest.mark.parametrize(("before", "after"), TRANSITIONS)
def test_no_transition_lowers_replicas(before: str, after: str) -> None:
    world = World()
    be_fixed(world)
    world.reconcile()
    STATES[before](world)
    world.reconcile()
    seen = []
    STATES[after](world)
    for _ in range(3):
        world.reconcile()
        seen.append(world.get("Deployment")["spec"]["replicas"])
    assert set(seen) == {0 if after == "suspended" else 4}


@pytest.mark.parametrize("manager", [AUTOSCALER, HPA])
def test_another_writer_keeps_the_field_while_the_rest_of_the_spec_changes(manager: str) -> None:
    world = World().serving()
    world.scale(6, manager)
    world.apply(spec__maxNumSeqs=3)
    world.reconcile()
    assert world.get("Deployment")["spec"]["replicas"] == 6


def test_a_scaler_that_was_faster_is_not_overwritten() -> None:
    """The cache still shows 1 replica when the scaler has made it 6: the bound write fails, nothing is lost."""
    world = World().serving()
    world.cluster.cache = None
    world.scale(6, HPA)
    world.cluster.cache = world.cache
    world.apply(spec__maxNumSeqs=3)
    with pytest.raises(Exception, match="resourceVersion"):
        world.reconcile()
    assert world.get("Deployment")["spec"]["replicas"] == 6


def test_a_deployment_that_lost_its_labels_keeps_its_replicas_and_gets_the_labels_back() -> None:
    """Without the label no watch shows it: it is found by its name, live."""
    world = World().serving()
    world.scale(6, OPERATOR)
    ref = Ref("Deployment", NAMESPACE, "chat")
    world.cluster.edit(ref, lambda live: live["metadata"].pop("labels"))
    world.cache.drop(ref)
    world.reconcile()
    live = world.get("Deployment")
    assert live["spec"]["replicas"] == 6
    assert live["metadata"]["labels"]["llmservice.dev/name"] == "chat"
