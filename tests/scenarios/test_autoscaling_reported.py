"""What the status says of the autoscaler, when it is written, and what survives a restart."""

from llmservice.controllers.scaling import Unconfigured
from llmservice.objects.references import Ref
from llmservice.reconcilers.scaling.explaining import explained
from tests.scenarios.scaled_world import RUNNING, UNREACHABLE, ScaledWorld
from tests.scenarios.world import NAMESPACE


def statuses(world: ScaledWorld) -> int:
    """How often the status was written since the last call."""
    return world.writes().count("apply_status LLMService chat")


def shown(world: ScaledWorld, kind: str = "MetricsAvailable") -> tuple[str, str]:
    condition = world.condition(kind)
    return condition["status"], condition["reason"]


def test_one_failed_scrape_is_no_news() -> None:
    world = ScaledWorld().scaled()
    world.source.unreadable = {"chat-1-01": UNREACHABLE}
    world.tick()
    world.source.unreadable = {}
    world.tick(2)
    assert statuses(world) == 0


def test_unreadable_replicas_are_reported_with_reason_and_remedy_and_the_number_stays() -> None:
    world = ScaledWorld().scaled(minimum=2)
    world.source.unreadable = {pod["metadata"]["name"]: UNREACHABLE for pod in world.pods()}
    world.tick(2)
    assert shown(world, "ScalingActive") == shown(world) == ("False", "NoFreshReadings")
    assert world.autoscaling["readFailures"] == ["Unreachable"]
    message = world.condition("MetricsAvailable")["message"]
    assert message.startswith("2 of 2 ")
    assert message.endswith(f"chat-1-01: Unreachable: {UNREACHABLE.message}")
    assert world.replicas == 2
    assert world.events() == [("Warning", "NoFreshReadings")]


def test_normal_again_within_two_periods() -> None:
    world = ScaledWorld().scaled()
    world.source.unreadable = {"chat-1-01": UNREACHABLE}
    world.tick(3)
    world.source.unreadable = {}
    world.tick(2)
    assert shown(world) == ("True", "MetricsRead")
    assert "readFailures" not in world.autoscaling
    assert shown(world, "ScalingActive")[0] == "True"


def test_some_unreadable_replicas_are_told_apart_from_all() -> None:
    world = ScaledWorld().scaled(minimum=2)
    world.source.unreadable = {"chat-1-02": UNREACHABLE}
    world.tick(2)
    assert shown(world) == ("False", "PartialReadings")
    assert shown(world, "ScalingActive")[0] == "True"


def test_before_the_first_replica_is_ready_nothing_is_warned_of() -> None:
    world = ScaledWorld()
    world.apply(spec__autoscaling={"maxReplicas": 4})
    world.reconcile()
    for _ in range(3):
        world.round()
    assert shown(world, "ScalingActive") == ("False", "NoFreshReadings")
    assert world.events() == []


def test_metrics_that_come_and_go_are_reported_every_five_minutes_at_most_on_average() -> None:
    world = ScaledWorld().scaled()
    for number in range(180):
        world.source.unreadable = {"chat-1-01": UNREACHABLE} if number % 2 else {}
        world.tick(2)
    assert statuses(world) <= 60 / 5 + 6  # and six checkpoints in the hour


def test_without_a_prometheus_the_number_stays_and_the_status_says_what_to_set() -> None:
    world = ScaledWorld()
    world.autoscaler.sources = {"Pods": world.source, "Prometheus": Unconfigured()}
    world.scaled(source="Prometheus")
    world.source.running = 40.0
    world.tick(3)
    assert world.replicas == 1
    assert "LLMSERVICE_PROMETHEUS_URL" in world.condition("MetricsAvailable")["message"]


def test_each_source_is_asked_for_the_services_that_name_it() -> None:
    world = ScaledWorld().scaled(source="Prometheus")
    world.source.asked = []
    world.prometheus.running = 12.0
    world.tick()
    assert world.source.asked == []
    assert world.replicas == 3


def test_the_autoscaler_never_makes_a_service_reconciling() -> None:
    world = ScaledWorld().scaled()
    world.source.running = 12.0
    world.round()
    assert world.replicas == 3
    world.reconcile()
    assert world.condition("Reconciling") == {}


def test_without_autoscaling_nothing_of_it_is_left() -> None:
    world = ScaledWorld().scaled()
    world.apply(spec__replicas=2)
    world.reconcile()
    assert "autoscaling" not in world.get("LLMService")["status"]
    assert world.condition("ScalingActive") == world.condition("MetricsAvailable") == {}
    assert list(world.states) == []


def test_what_is_known_goes_with_the_resource() -> None:
    world = ScaledWorld().scaled()
    world.cluster.remove(Ref("LLMService", NAMESPACE, "chat"))
    assert list(world.states) == []


def test_a_new_leader_writes_nothing_while_nothing_changes() -> None:
    world = ScaledWorld().scaled()
    before = world.autoscaling
    world.lead()
    world.tick(3)
    assert world.writes() == []
    assert world.autoscaling == before


def test_before_its_first_round_a_leader_leaves_the_status_as_it_is() -> None:
    world = ScaledWorld().scaled()
    before = world.autoscaling
    world.lead()
    world.reconcile()
    assert world.autoscaling == before
    assert shown(world, "ScalingActive")[0] == "True"


def cold_starts_learned(world: ScaledWorld) -> int:
    """How many cold starts are remembered."""
    found: int = explained(world.state, world.seconds())["learned"]["coldStartsMeasured"]
    return found


def with_a_measured_cold_start() -> ScaledWorld:
    world = ScaledWorld().scaled()
    world.source.running = 6.0
    world.round()
    stamped = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:02:00Z"}
    world.start_pod(conditions=[stamped])
    world.source.running = 3.0
    world.round()
    assert cold_starts_learned(world) == 1
    return world


def test_what_was_learned_survives_a_change_of_leader() -> None:
    world = with_a_measured_cold_start()
    world.source.running = 6.0
    world.tick()  # a decision, and with it a checkpoint
    world.lead()
    world.tick()
    assert cold_starts_learned(world) == 1


def test_what_was_learned_of_other_replicas_is_void() -> None:
    world = with_a_measured_cold_start()
    world.apply(spec__maxNumSeqs=7, spec__autoscaling={"maxReplicas": 8, **RUNNING})
    world.round()
    assert cold_starts_learned(world) == 1  # those that run are the same until the change is written
    world.reconcile()
    world.round()
    assert cold_starts_learned(world) == 0


def test_an_edit_of_the_policy_forgets_nothing() -> None:
    world = with_a_measured_cold_start()
    world.apply(spec__autoscaling={"maxReplicas": 7, **RUNNING})
    world.round()
    assert cold_starts_learned(world) == 1
