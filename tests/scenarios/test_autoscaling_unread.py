"""Replicas that cannot be read: from the first one that is ready on, the status says why and what to do."""

from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason
from llmservice.objects.references import Manifest, Ref
from tests.scenarios.scaled_world import RUNNING, UNREACHABLE, ScaledWorld
from tests.scenarios.world import NAMESPACE

WANTS_A_KEY = ReadFailure(reason=ReadFailureReason.UNAUTHORIZED, message="HTTP 401: leave out what sets a key")


def names(world: ScaledWorld) -> list[str]:
    return [pod["metadata"]["name"] for pod in world.pods()]


def metrics(world: ScaledWorld) -> tuple[str, list[str]]:
    """The reason of the condition, and those why pods cannot be read."""
    return world.condition("MetricsAvailable")["reason"], world.autoscaling.get("readFailures", [])


def be_ready(pod: Manifest) -> None:
    pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}]


def test_a_new_service_that_cannot_be_read_says_so_once_it_is_ready() -> None:
    world = ScaledWorld()
    world.apply(spec__autoscaling={"maxReplicas": 4, **RUNNING})
    world.reconcile()
    name = world.start_pod(conditions=[{"type": "Ready", "status": "False"}])
    world.source.unreadable = {name: UNREACHABLE}
    for _ in range(6):
        world.round()
    assert metrics(world) == ("NoReplicaReady", [])
    assert world.events() == [("Normal", "Starting")]

    world.cluster.edit(Ref("Pod", NAMESPACE, name), be_ready)
    world.round()
    world.round()
    assert metrics(world) == ("NoFreshReadings", ["Unreachable"])
    assert world.condition("MetricsAvailable")["message"].endswith(f"{name}: Unreachable: {UNREACHABLE.message}")
    assert world.events() == [("Normal", "Starting"), ("Warning", "NoFreshReadings")]


def test_a_pod_that_is_ready_before_it_has_an_address_says_so() -> None:
    world = ScaledWorld()
    world.apply(spec__autoscaling={"maxReplicas": 4, **RUNNING})
    world.reconcile()
    world.start_pod(podIP="")
    world.round()
    world.round()
    assert metrics(world) == ("NoFreshReadings", ["NoAddress"])
    assert world.source.asked == []


def test_another_reason_replaces_the_one_that_is_gone() -> None:
    world = ScaledWorld().scaled(minimum=2)
    world.source.unreadable = dict.fromkeys(names(world), UNREACHABLE)
    world.tick(3)
    for name in names(world):
        world.cluster.remove(Ref("Pod", NAMESPACE, name))
    world.settle()
    world.source.unreadable = dict.fromkeys(names(world), WANTS_A_KEY)
    world.tick(2)
    assert metrics(world) == ("NoFreshReadings", ["Unauthorized"])
    message = world.condition("MetricsAvailable")["message"]
    assert message.endswith(f"{names(world)[0]}: Unauthorized: {WANTS_A_KEY.message}")


def test_a_new_leader_writes_nothing_while_replicas_stay_unreadable() -> None:
    world = ScaledWorld().scaled(minimum=2)
    world.source.unreadable = dict.fromkeys(names(world), UNREACHABLE)
    world.tick(3)
    world.writes()
    world.lead()
    world.tick(3)
    assert world.writes() == []


def test_reasons_that_change_all_the_time_are_reported_every_five_minutes_at_most_on_average() -> None:
    world = ScaledWorld().scaled(minimum=2)
    for number in range(180):
        world.source.unreadable = dict.fromkeys(names(world), WANTS_A_KEY if number % 2 else UNREACHABLE)
        world.tick(2)
    assert world.writes().count("apply_status LLMService chat") <= 60 / 5 + 6  # and six checkpoints in the hour
