"""The twenty transitions among fixed, autoscaled, advised, external and suspended: none lowers replicas.

The autoscaler works all the time; "external" is played by its field manager, which writes the Deployment's `/scale`.
"""

from collections.abc import Callable

import pytest

from llmservice.objects.names import AUTOSCALER, OPERATOR
from llmservice.objects.references import Ref
from tests.scenarios.scaled_world import RUNNING, ScaledWorld
from tests.scenarios.world import NAMESPACE, World

HPA = "kube-controller-manager"


def be_fixed(world: ScaledWorld) -> None:
    world.apply(spec__replicas=4)


def be_autoscaled(world: ScaledWorld) -> None:
    world.apply(spec__autoscaling={"maxReplicas": 8, **RUNNING})


def be_advised(world: ScaledWorld) -> None:
    world.apply(spec__autoscaling={"maxReplicas": 8, "mode": "Advise", **RUNNING})


def be_external(world: ScaledWorld) -> None:
    world.apply()
    world.reconcile()
    world.scale(max(4, world.replicas), HPA)


def be_suspended(world: ScaledWorld) -> None:
    world.apply(spec__suspend=True)


STATES: dict[str, Callable[[ScaledWorld], None]] = {
    "fixed": be_fixed,
    "autoscaled": be_autoscaled,
    "advised": be_advised,
    "external": be_external,
    "suspended": be_suspended,
}
TRANSITIONS = [(before, after) for before in STATES for after in STATES if before != after]


def pass_by(world: ScaledWorld, *, operator_first: bool) -> list[int]:
    """Three rounds of operator and autoscaler, in either order; the replicas after each step."""
    steps: list[Callable[[], object]] = [world.reconcile, world.tick]
    if not operator_first:
        steps.reverse()
    seen = []
    for step in steps * 3:
        step()
        seen.append(world.replicas)
    return seen


def test_there_are_twenty_transitions() -> None:
    assert len(TRANSITIONS) == 20


@pytest.mark.parametrize("operator_first", [True, False])
@pytest.mark.parametrize(("before", "after"), TRANSITIONS)
def test_no_transition_lowers_replicas(before: str, after: str, *, operator_first: bool) -> None:
    world = ScaledWorld()
    be_fixed(world)
    world.reconcile()
    world.settle()
    STATES[before](world)
    pass_by(world, operator_first=operator_first)
    STATES[after](world)
    seen = pass_by(world, operator_first=operator_first)
    stays, comes = 0 if before == "suspended" else 4, 0 if after == "suspended" else 4
    assert set(seen) <= {stays, comes}
    assert seen[-1] == comes


def test_leaving_autoscaling_leaves_the_number_where_it_is() -> None:
    world = ScaledWorld().scaled()
    world.source.running = 24.0
    world.tick()
    world.apply()
    pass_by(world, operator_first=True)
    assert world.replicas == 5


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
    world.cache.drop_uid(ref, world.get("Deployment")["metadata"]["uid"])
    world.reconcile()
    live = world.get("Deployment")
    assert live["spec"]["replicas"] == 6
    assert live["metadata"]["labels"]["llmservice.dev/name"] == "chat"
