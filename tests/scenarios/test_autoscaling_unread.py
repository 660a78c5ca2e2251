"""Replicas that cannot be read: from the first one that is ready on, the status says why and what to do."""

from llmservice.objects.references import Manifest, Ref
from llmservice.signals.source import ReadFailure, ReadFailureReason
from tests.scenarios.scaled_world import RUNNING, UNREACHABLE, ScaledWorld
from tests.scenarios.world import NAMESPACE

WANTS_A_KEY = ReadFailure(reason=ReadFailureReason.UNAUTHORIZED, message="HTTP 401: leave out what sets a key")


def names(world: ScaledWorld) -> list[str]:
    return [pod["metadata"]["name"] for pod in world.pods()]


def metrics(world: ScaledWorld) -> tuple[str, str]:
    condition = world.condition("MetricsAvailable")
    return condition["reason"], condition["message"]


def be_ready(pod: Manifest) -> None:
    pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}]


def test_a_new_service_that_cannot_be_read_says_so_once_it_is_ready() -> None:
    world = ScaledWorld()
    world.apply(spec__autoscaling={"maxReplicas": 4, **RUNNING})
    world.reconcile()
    name = world.start_pod(conditions=[{"type": "Ready", "status": "False"}])
    world.source.silent = {name: UNREACHABLE}
    for _ in range(6):
        world.look()
    assert metrics(world) == ("NoReplicaReady", "no replica is ready to be read: see condition Ready")
    assert world.events() == []

    world.cluster.edit(Ref("Pod", NAMESPACE, name), be_ready)
    world.look()
    world.look()
    assert metrics(world) == (
        "NoFreshReadings",
        f"1 of 1 ready replicas cannot be read; {name}: Unreachable: connection refused: see its log",
    )
    assert world.events() == [("Warning", "NoFreshReadings")]


def test_another_cause_replaces_the_one_that_is_gone() -> None:
    world = ScaledWorld().scaled(minimum=2)
    world.source.silent = dict.fromkeys(names(world), UNREACHABLE)
    world.tick(3)
    for name in names(world):
        world.cluster.remove(Ref("Pod", NAMESPACE, name))
    world.settle()
    world.source.silent = dict.fromkeys(names(world), WANTS_A_KEY)
    world.tick(2)
    assert metrics(world)[1] == (
        f"2 of 2 ready replicas cannot be read; {names(world)[0]}: Unauthorized: HTTP 401: leave out what sets a key"
    )


def test_a_new_leader_tells_nothing_that_is_told() -> None:
    world = ScaledWorld().scaled(minimum=2)
    world.source.silent = dict.fromkeys(names(world), UNREACHABLE)
    world.tick(3)
    world.writes()
    world.lead()
    world.tick(3)
    assert world.writes() == []


def test_causes_that_change_all_the_time_are_told_every_five_minutes_at_most_on_average() -> None:
    world = ScaledWorld().scaled(minimum=2)
    for number in range(180):
        world.source.silent = dict.fromkeys(names(world), WANTS_A_KEY if number % 2 else UNREACHABLE)
        world.tick(2)
    assert world.writes().count("apply_status LLMService chat") <= 60 / 5 + 6  # and six checkpoints in the hour
