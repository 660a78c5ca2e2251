"""A service that sleeps: in which order it goes, what wakes it, and what is said of it."""

import json
from typing import Any

from llmservice.objects.references import Ref
from tests.scenarios.scaled_world import UNREACHABLE
from tests.scenarios.world import NAMESPACE
from tests.scenarios.zero_world import ONE, TWO, ZeroWorld


def test_a_service_that_serves_has_its_port_and_no_activator_in_its_path() -> None:
    world = ZeroWorld().awake()
    assert world.in_path() == []
    assert 20_000 <= world.slice()["ports"][0]["port"] <= 29_999
    assert world.condition()["reason"] == "Ready"


def test_the_first_replica_starts_at_once_and_requests_are_held_until_it_is_there() -> None:
    world = ZeroWorld()
    world.apply(spec__autoscaling={"minReplicas": 0, "maxReplicas": 2})
    world.reconcile()
    assert world.replicas == 1
    world.pass_once()
    assert world.in_path() == [ONE.address, TWO.address]


def test_the_activators_take_over_before_the_last_replica_goes() -> None:
    world = ZeroWorld().awake()
    world.tick(60)
    while not world.in_path():
        assert world.replicas == 1
        world.tick()
    assert world.replicas == 1, "nobody is sure yet that every node knows of them"
    world.tick(2)
    assert (world.replicas, world.in_path()) == (0, [ONE.address, TWO.address])
    ready = world.condition()
    assert (ready["status"], ready["reason"]) == ("True", "Asleep")
    assert "since" in world.idle
    assert world.get("LLMService")["status"]["replicaSummary"] == "0/0"
    assert world.condition("MetricsAvailable")["status"] == "True"
    assert ("Normal", "ScaledDown") in world.events()


def test_without_an_activator_it_stays() -> None:
    world = ZeroWorld().awake()
    world.activators.become()
    world.tick(90)
    assert world.replicas == 1
    world.activators.become(TWO)
    world.tick(3)
    assert (world.replicas, world.in_path()) == (0, [TWO.address])


def test_one_that_waits_for_an_activator_is_reconciled_in_every_round_until_one_is_its_endpoint() -> None:
    world = ZeroWorld().awake()
    world.activators.become()
    world.tick(90)
    world.activators.become(TWO)
    world.changed.clear()
    world.decide()
    assert world.changed == ["chat"], "no change of the activators concerned it: a replica serves"
    world.tick(2)
    assert world.in_path() == [TWO.address]


def test_one_that_sleeps_while_no_activator_is_ready_is_not_ready() -> None:
    world = ZeroWorld().sleeping()
    world.activators.become()
    world.pass_once()
    ready = world.condition()
    assert (ready["status"], ready["reason"]) == ("False", "ActivatorMissing")
    assert ("Warning", "ActivatorMissing") in world.events()
    world.activators.become(ONE)
    world.pass_once()
    assert (world.condition()["status"], world.condition()["reason"]) == ("True", "Asleep")


def test_a_held_request_wakes_it_at_once_and_the_activators_leave_when_the_replica_is_an_endpoint() -> None:
    world = ZeroWorld().sleeping()
    world.hold(3)
    assert world.hurried[-1:] == ["chat"]
    world.round(seconds=0.1)
    assert (world.replicas, world.in_path()) == (1, [ONE.address, TWO.address])
    assert world.scaled_events()[-1].startswith("0 → 1: 3 requests are held")
    world.start_pod()
    world.reconcile()
    assert world.in_path() == [ONE.address, TWO.address], "the pod is ready, and no endpoint yet"
    world.list_endpoints()
    world.reconcile()
    assert world.in_path() == []
    assert world.state.wakes == 1


def test_requests_that_come_on_the_way_to_sleep_keep_it_awake() -> None:
    world = ZeroWorld().awake()
    while not world.in_path():
        world.tick()
    world.source.tokens += 1
    world.tick(3)
    assert (world.replicas, world.in_path()) == (1, [])


def test_what_is_not_read_puts_nothing_to_sleep() -> None:
    world = ZeroWorld().awake()
    world.source.unreadable = {"chat-1-01": UNREACHABLE}
    world.tick(120)
    assert world.replicas == 1


def test_somebody_who_asks_wakes_it() -> None:
    world = ZeroWorld().sleeping()
    world.ask_for_it("2020-01-01T00:00:00Z")
    world.tick()
    assert world.replicas == 0, "that was before it slept"
    world.ask_for_it("2026-01-01T05:00:00Z")
    world.tick(2)
    assert world.replicas == 1


def test_whoever_sets_replicas_wakes_it_and_is_no_rival() -> None:
    world = ZeroWorld().sleeping()
    world.scale(1, "keda-operator")
    world.tick(3)
    assert world.replicas == 1
    assert ("Warning", "Overruled") not in world.events()
    assert "keda-operator" in world.scaled_events()[-1]


def test_a_restarted_operator_lets_it_sleep_on_and_goes_on_counting() -> None:
    world = ZeroWorld().awake()
    world.tick(30)
    sleeps_at = world.idle["sleepsAt"]
    world.lead()
    world.tick(4)
    assert world.idle["sleepsAt"] == sleeps_at
    world.tick(40)
    since = world.idle["since"]
    world.lead()
    world.tick(2)
    assert (world.replicas, world.idle["since"]) == (0, since)


def test_it_says_what_a_start_takes_to_those_who_hold_its_requests() -> None:
    world = ZeroWorld().awake()

    def started(live: dict[str, dict[str, object]]) -> None:
        live["status"]["startup"] = {"model": "pvc://models/tiny.gguf", "last": {"totalSeconds": 42}}

    world.cluster.edit(Ref("LLMService", NAMESPACE, "chat"), started)
    world.sleepers.cache.put(world.get("LLMService"))
    world.pass_once()
    said = json.loads(world.slice()["metadata"]["annotations"]["llmservice.dev/activation"])
    assert (said["models"], said["startSeconds"]) == (["chat"], 42)


def test_those_who_hold_its_requests_are_told_that_its_start_is_hopeless_until_it_sleeps_or_is_edited() -> None:
    world = ZeroWorld().awake()
    wrong = {"status": "False", "reason": "WrongArgument", "message": "a flag is wrong"}

    def failed(live: dict[str, Any]) -> None:
        generation = live["metadata"]["generation"]
        conditions = [{"type": "Ready", **wrong}, {"type": "Stalled", **wrong, "status": "True"}]
        live["status"] |= {"observedGeneration": generation, "conditions": conditions}

    def told() -> object:
        world.cluster.edit(Ref("LLMService", NAMESPACE, "chat"), failed)
        world.sleepers.cache.put(world.get("LLMService"))
        world.pass_once()
        said = json.loads(world.slice()["metadata"]["annotations"]["llmservice.dev/activation"])
        return said.get("trouble"), said.get("hopeless")

    assert told() == ("WrongArgument", True)
    world.pass_once()
    assert "trouble" not in world.slice()["metadata"]["annotations"]["llmservice.dev/activation"]
    world.scale(0, "kubectl")
    assert told() == (None, None)


def test_a_second_pass_over_the_same_state_writes_nothing() -> None:
    world = ZeroWorld().sleeping()
    world.writes()
    world.pass_once()
    assert world.writes() == []


def test_a_service_that_always_runs_again_has_no_slice() -> None:
    world = ZeroWorld().awake()
    world.apply(spec__autoscaling={"minReplicas": 1, "maxReplicas": 2})
    world.reconcile()
    assert not world.exists("EndpointSlice", "chat-activator")


def test_one_that_is_no_longer_scaled_wakes_for_nobody_else_would_wake_it() -> None:
    world = ZeroWorld().sleeping()
    world.apply()
    world.reconcile()
    assert world.replicas == 1


def test_a_suspended_one_holds_nothing() -> None:
    world = ZeroWorld().sleeping()
    world.apply(spec__autoscaling={"minReplicas": 0, "maxReplicas": 2}, spec__suspend=True)
    world.tick(2)
    assert world.in_path() == []
    assert world.condition()["reason"] == "Suspended"


def test_one_that_goes_on_after_a_suspension_was_started_by_the_operator() -> None:
    bounds = {"minReplicas": 0, "maxReplicas": 2}
    world = ZeroWorld().sleeping()
    world.apply(spec__autoscaling=bounds, spec__suspend=True)
    world.tick(2)
    world.apply(spec__autoscaling=bounds)
    world.reconcile()
    world.tick(3)
    assert world.replicas == 1
    assert "set by the operator" in world.scaled_events()[-1]


def test_nobody_is_told_when_one_sleeps_whose_schedule_forbids_it() -> None:
    day = {"name": "day", "start": "00:00", "end": "20:00", "minReplicas": 1}
    world = ZeroWorld().awake(schedules=[day])
    world.tick(90)
    assert world.replicas == 1
    assert world.idle.keys() == {"afterSeconds"}


def test_a_floor_of_a_schedule_wakes_it() -> None:
    day = {"name": "day", "start": "08:00", "end": "20:00", "minReplicas": 2}
    world = ZeroWorld().sleeping(schedules=[day])
    assert world.replicas == 0
    world.tick(seconds=8 * 3600.0)
    assert world.replicas == 2
