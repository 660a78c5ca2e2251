"""Requests that end with their engine are counted, and no others, whatever takes the pod away."""

from typing import Any

from llmservice.objects.references import Manifest, Ref
from tests.scenarios.scaled_world import UNREACHABLE, ScaledWorld
from tests.scenarios.world import NAMESPACE

POD = Ref("Pod", NAMESPACE, "chat-1-01")


def a_world(running: float = 3.0, **spec: Any) -> ScaledWorld:
    """One replica with so many requests in it, read."""
    world = ScaledWorld().scaled(maximum=1, **spec)
    world.source.running = running
    world.round()
    return world


def status(world: ScaledWorld, restarts: int = 0, **state: Any) -> None:
    """What the kubelet says of the engine."""

    def tell(live: Manifest) -> None:
        live["status"]["containerStatuses"][0] |= {"state": state, "restartCount": restarts}

    world.cluster.edit(POD, tell, manager="kubelet", subresource="status")


def leave(world: ScaledWorld) -> None:
    """Somebody deletes the pod."""
    world.cluster.edit(POD, _leaves, manager="user")


def _leaves(live: Manifest) -> None:
    grace = live["spec"].setdefault("terminationGracePeriodSeconds", 320)
    live["metadata"]["finalizers"] = ["example.com/kubelet"]  # it holds the pod until its engine has ended
    live["metadata"] |= {"deletionTimestamp": "2026-11-22T10:05:20Z", "deletionGracePeriodSeconds": grace}


def test_zero_from_the_first_reading_on_and_nothing_before() -> None:
    world = ScaledWorld()
    world.apply(spec__autoscaling={"minReplicas": 1, "maxReplicas": 2})
    world.reconcile()
    world.round()
    assert world.state.truncated is None
    world.settle()
    world.round()
    assert world.state.truncated == 0


def test_a_leaving_pod_is_read_until_its_end_and_decides_nothing() -> None:
    world = a_world()
    leave(world)
    world.round()
    assert world.source.asked == ["chat-1-01"]
    assert world.evaluation.readings == {}
    status(world, terminated={"exitCode": 0, "finishedAt": "2026-11-22T10:00:30Z"})
    assert world.state.truncated == 0


def test_what_still_runs_when_the_drain_is_over_is_counted_by_the_last_reading() -> None:
    world = a_world(running=7.0)
    leave(world)
    world.source.running = 2.0
    world.round()
    world.source.unreadable = {"chat-1-01": UNREACHABLE}
    world.round()
    status(world, terminated={"exitCode": 0, "finishedAt": "2026-11-22T10:05:01Z"})
    assert world.state.truncated == 2


def test_an_engine_that_crashes_is_counted_once() -> None:
    world = a_world()
    crash = {"exitCode": 139, "finishedAt": "2026-11-22T10:00:30Z"}
    status(world, terminated=crash)
    status(world, restarts=1, running={})
    assert world.state.truncated == 3


def test_deletion_by_force_is_counted_where_the_reading_is_fresh() -> None:
    world = a_world()
    world.cluster.remove(POD)
    assert world.state.truncated == 3

    world = a_world()
    world.source.unreadable = {"chat-1-01": UNREACHABLE}
    world.round(seconds=31)
    world.cluster.remove(POD)
    assert world.state.truncated == 0


def test_an_idle_engine_truncates_nothing() -> None:
    world = a_world(running=0.0)
    world.cluster.remove(POD)
    assert world.state.truncated == 0


def test_another_term_knows_nothing_of_the_pods_before() -> None:
    world = a_world()
    world.autoscaler.truncations.forget_all()
    world.cluster.remove(POD)
    assert world.state.truncated == 0


def test_the_end_of_the_resource_ends_the_count() -> None:
    world = a_world()
    world.cluster.remove(Ref("LLMService", NAMESPACE, "chat"))
    assert world.pods() == []
    assert [*world.states] == []
