"""What the autoscaler does to a service, tick by tick: replicas, who leaves first, what it never touches."""

import re
from datetime import timedelta
from typing import Any

import pytest

from llmservice.errors import Unavailable
from llmservice.objects.names import AUTOSCALER, OPERATOR
from llmservice.objects.references import Ref
from tests.scenarios.scaled_world import UNREACHABLE, ScaledWorld, deletion_cost
from tests.scenarios.world import NAMESPACE

HPA = "kube-controller-manager"
CHAT = Ref("Deployment", NAMESPACE, "chat")


def scales(world: ScaledWorld) -> int:
    """How often `/scale` was written since the last call."""
    return sum(write.startswith("apply_scale") for write in world.writes())


def numbers_in(message: str) -> set[str]:
    """The step and the figures that a message gives."""
    return {*re.findall(r"\d+ → \d+|[\d.]+", message)}


def test_more_load_means_more_replicas_and_the_status_says_why() -> None:
    world = ScaledWorld().scaled()
    world.source.running = 12.0
    world.tick()
    assert world.replicas == 3
    assert (world.autoscaling["replicas"], world.autoscaling["reason"]) == (3, "LoadRose")
    assert {"1 → 3", "12", "4"} <= numbers_in(world.autoscaling["message"])
    assert world.condition("ScalingActive")["status"] == "True"
    assert world.events() == [("Normal", "ScaledUp")]


def test_less_load_means_fewer_replicas_after_the_window() -> None:
    world = ScaledWorld().scaled()
    world.source.running = 12.0
    world.tick()
    world.source.running = 0.0
    world.tick(28)
    assert world.replicas == 3
    world.tick(12)
    assert world.replicas == 1
    assert world.events()[-1] == ("Normal", "ScaledDown")


def test_replicas_on_their_way_are_not_asked_for_again() -> None:
    world = ScaledWorld().scaled()
    world.source.running = 12.0
    for _ in range(5):
        world.round()
    assert world.replicas == 3


def test_the_number_is_taken_over_once_so_that_the_operator_can_leave_it_out() -> None:
    world = ScaledWorld()
    world.apply(spec__autoscaling={"minReplicas": 2, "maxReplicas": 4})
    world.reconcile()
    world.settle()
    assert world.owners == {OPERATOR}
    world.tick()
    assert AUTOSCALER in world.owners
    world.writes()
    world.tick(5)
    assert scales(world) == 0


def test_steady_load_writes_nothing() -> None:
    world = ScaledWorld().scaled()
    world.source.running = 2.0
    world.tick(5)
    world.writes()
    world.tick(30)
    assert world.writes() == []


def test_a_new_bound_holds_in_the_next_round_whatever_was_read() -> None:
    world = ScaledWorld().scaled()
    world.source.unreadable = {"chat-1-01": UNREACHABLE}
    world.apply(spec__autoscaling={"minReplicas": 3, "maxReplicas": 4})
    world.round()
    assert world.replicas == 3
    assert world.autoscaling["reason"] == "OutOfBounds"


@pytest.mark.parametrize("busy", ["chat-1-01", "chat-1-02", "chat-1-03"])
def test_the_idlest_leave_first(busy: str) -> None:
    world = ScaledWorld().scaled(minimum=3)
    world.source.by_pod = {busy: 5.0}
    world.apply(spec__autoscaling={"maxReplicas": 1, "policy": "Threshold", "targets": {"runningRequests": 4}})
    world.round()
    assert world.replicas == 1
    assert max(world.pods(), key=deletion_cost)["metadata"]["name"] == busy
    assert deletion_cost(next(pod for pod in world.pods() if pod["metadata"]["name"] == busy)) == 0


def test_costs_are_written_only_where_they_change_the_order() -> None:
    world = ScaledWorld().scaled(minimum=3)
    world.apply(spec__autoscaling={"maxReplicas": 2})
    world.round()
    assert [write.split()[0:2] for write in world.writes()].count(["apply", "Pod"]) == 1


def test_advise_touches_nothing_and_says_what_it_would_do() -> None:
    world = ScaledWorld().scaled(mode="Advise")
    world.scale(2, HPA)
    world.settle()
    world.writes()
    world.source.running = 8.0
    world.tick(3)
    assert scales(world) == 0
    assert world.replicas == 2
    assert (world.autoscaling["advisedReplicas"], "replicas" in world.autoscaling) == (4, False)
    condition = world.condition("ScalingActive")
    assert (condition["status"], condition["reason"]) == ("False", "AdviseOnly")
    assert AUTOSCALER not in world.owners


def test_advice_goes_on_from_advice_as_if_it_were_followed() -> None:
    world = ScaledWorld().scaled(mode="Advise", minimum=1)
    world.scale(8, HPA)
    world.settle()
    world.tick(60)
    assert world.autoscaling["advisedReplicas"] == 1


def test_suspended_it_scales_nothing_and_goes_on_afterwards() -> None:
    world = ScaledWorld().scaled(minimum=2)
    spec: dict[str, Any] = {"spec__autoscaling": {"minReplicas": 2, "maxReplicas": 4}}
    world.apply(spec__suspend=True, **spec)
    world.reconcile()
    world.settle()
    world.writes()
    world.tick(3)
    assert scales(world) == 0
    assert world.condition("ScalingActive")["reason"] == "Suspended"
    world.apply(**spec)
    world.tick()  # the operator has not stated replicas again
    assert world.replicas == 0
    world.reconcile()
    world.settle()
    world.tick(3)
    assert world.replicas == 2
    assert world.condition("ScalingActive")["status"] == "True"


def test_a_deployment_of_somebody_else_is_left_alone() -> None:
    world = ScaledWorld().scaled()

    def disown(live: dict[str, Any]) -> None:
        live["metadata"]["ownerReferences"] = [{**live["metadata"]["ownerReferences"][0], "uid": "another"}]

    world.cluster.edit(CHAT, disown)
    world.source.running = 12.0
    world.round()
    assert scales(world) == 0


def test_who_else_sets_the_number_is_overruled_with_one_event() -> None:
    world = ScaledWorld().scaled()
    for _ in range(3):
        world.scale(12, HPA)
        world.settle()
        world.tick()
    assert world.replicas == 8
    assert world.owners == {AUTOSCALER}
    assert [event for event in world.events() if event[0] == "Warning"] == [("Warning", "Overruled")]


def test_a_write_that_fails_is_reported_nowhere_and_tried_again() -> None:
    world = ScaledWorld().scaled()
    world.source.running = 12.0

    def refuse(verb: str, ref: Ref) -> None:
        if (verb, ref) == ("apply_scale", CHAT) and not may_scale:
            raise Unavailable("Unavailable", "not now")

    may_scale = False

    world.cluster.before = refuse
    world.round()
    assert (world.replicas, world.events(), world.autoscaling["replicas"]) == (1, [], 1)
    may_scale = True
    world.round()
    assert (world.replicas, world.events()) == (3, [("Normal", "ScaledUp")])


def test_a_pod_that_may_not_be_marked_does_not_keep_the_number_up() -> None:
    world = ScaledWorld().scaled(minimum=3)

    def refuse(verb: str, ref: Ref) -> None:
        if (verb, ref.kind) == ("apply", "Pod"):
            raise Unavailable("Unavailable", "not now")

    world.cluster.before = refuse
    world.apply(spec__autoscaling={"maxReplicas": 2})
    world.round()
    assert world.replicas == 2


def test_unschedulable_pods_are_reported_and_no_more_are_asked_for() -> None:
    world = ScaledWorld().scaled()
    world.source.running = 12.0
    world.round()
    words = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words}
    world.start_pod(conditions=[condition], phase="Pending", containerStatuses=[])
    world.source.running = 40.0
    for _ in range(2):
        world.round()
    assert world.replicas == 3
    shown = world.condition("ScalingActive")
    assert (shown["status"], shown["reason"]) == ("False", "PodsPending")
    assert words in shown["message"]
    assert ("Warning", "PodsPending") in world.events()


def test_pods_that_only_carry_the_label_do_not_count() -> None:
    world = ScaledWorld().scaled()
    name = world.start_pod()
    world.cluster.edit(Ref("Pod", NAMESPACE, name), lambda live: live["metadata"].pop("ownerReferences"))
    world.round()
    assert world.source.asked == ["chat-1-01"]


def test_a_schedule_raises_the_least_and_the_status_says_until_when() -> None:
    hours = {"start": "12:00", "end": "14:00", "timeZone": "UTC"}
    world = ScaledWorld()
    begins = world.time.replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=1)
    world.time = begins - timedelta(seconds=60)
    world.scaled(schedules=[{"name": "noon", "minReplicas": 3, "maxReplicas": 4, **hours}])
    assert (world.replicas, world.autoscaling["schedule"]["following"]) == (1, "noon")
    world.time = begins
    world.tick(2)
    schedule = world.autoscaling["schedule"]
    assert world.replicas == 3
    assert (schedule["name"], schedule["minReplicas"], schedule["maxReplicas"]) == ("noon", 3, 4)
    assert schedule["until"] == (begins + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert "noon" in world.autoscaling["message"]
    world.source.running = 40.0
    world.tick(3)
    assert world.replicas == 4
    world.source.running = 0.0
    world.time = begins + timedelta(hours=2)
    world.tick(60)
    assert (world.replicas, world.autoscaling["schedule"].get("name")) == (1, None)


def test_a_suspended_service_comes_back_within_the_bounds_of_the_hour() -> None:
    always = {"name": "always", "minReplicas": 5, "start": "00:00", "end": "24:00"}
    world = ScaledWorld().scaled(minimum=2, schedules=[always])
    spec = world.get("LLMService")["spec"]
    world.apply(spec__suspend=True, spec__autoscaling=spec["autoscaling"])
    world.reconcile()
    assert world.replicas == 0
    world.apply(spec__autoscaling=spec["autoscaling"])
    world.reconcile()
    assert world.replicas == 5


def test_the_service_stays_ready_while_a_schedule_asks_for_more_than_its_least() -> None:
    world = ScaledWorld().scaled(schedules=[{"name": "always", "minReplicas": 3, "start": "00:00", "end": "24:00"}])
    world.reconcile()
    assert world.condition("Ready")["status"] == "True"
