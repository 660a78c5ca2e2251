"""Engines that hang are told of and restarted; engines that only seem to are left alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.converging.scaled_pods import ScaledPod
from llmservice.engines.metric_names import MetricNames
from llmservice.errors import Refused, Unavailable
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.stall_handler import StallHandler
from llmservice.reconcilers.stall_reading import UnscaledEngines
from llmservice.reconcilers.stall_states import StallState
from llmservice.reconcilers.stall_watch import StallWatch
from llmservice.signals.one_token import Answer
from llmservice.signals.source import Target
from tests.scenarios.scaled_world import ScaledWorld
from tests.scenarios.world import NAMESPACE, World
from tests.unit.autoscaling.builders import counters

UNREACHABLE = ReadFailure(reason=ReadFailureReason.UNREACHABLE, message="connection refused: see its log")


@dataclass
class Engines:
    """Engines that work on `running` requests each; `hung` ones compute nothing, `unreadable` ones do not answer."""

    running: float = 3.0
    hung: set[str] = field(default_factory=set)
    unreadable: set[str] = field(default_factory=set)
    interrupting: bool = False
    shows_steps: bool = True
    preempted: float = 0.0
    answer: Answer = Answer.SILENT
    asked: int = 0
    read_of: list[str] = field(default_factory=list)
    now: float = 0.0

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        self.read_of = [target.pod for target in targets]
        return {target: UNREACHABLE if target.pod in self.unreadable else self._one(target.pod) for target in targets}

    def _one(self, pod: str) -> Reading:
        steps = 7.0 if pod in self.hung else self.now
        if self.interrupting:
            self.preempted += 3.0
        events = {"preemptions": self.preempted, "finished": self.now}
        return Reading(
            counters=counters(self.now, running=self.running, steps=steps, **events),
            kv_use=0.95,
            shows_steps=self.shows_steps,
        )

    async def ask(self, pod: ScaledPod, model: str) -> Answer:
        assert (pod.address, model) == ("10.0.0.1", "chat")
        self.asked += 1
        return self.answer


@dataclass
class StallWorld(World):
    """One service, `chat`, whose engines are watched."""

    engines: Engines = field(default_factory=Engines)
    watch: StallWatch = field(init=False)
    changed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.lead()

    def lead(self, stall_seconds: float = 120.0) -> None:
        """A term of leadership begins: a new process, as far as memory goes."""
        self.watch = StallWatch(
            cache=self.cache,
            unscaled=UnscaledEngines(
                cache=self.cache, sources={"Pods": self.engines}, metric_names=lambda *_: MetricNames()
            ),
            handler=StallHandler(
                cluster=self.cluster, ask=self.engines.ask, now=self._moment, stall_seconds=stall_seconds
            ),
            changed=lambda key: self.changed.append(key[1]),
        )
        self.reconciler.engine = self.watch.condition

    def served(self, replicas: int = 2, **changes: Any) -> "StallWorld":
        """The world with replicas that have served for an hour."""
        self.serving(spec__replicas=replicas, spec__gpu={"type": "L4"}, **changes)
        self.ready()
        self.time += timedelta(hours=1)
        return self

    def ready(self) -> None:
        """The ReplicaSet replaces what is gone, and the kubelet tells addresses."""
        pods = self.pods()
        wanted = self.get("Deployment")["spec"]["replicas"]
        if len(pods) < wanted:
            self.roll_out()
        for pod in self.pods():
            ref = Ref("Pod", NAMESPACE, pod["metadata"]["name"])
            self.cluster.edit(ref, lambda live: live["status"].update(podIP="10.0.0.1"), subresource="status")

    def rounds(self, number: int) -> None:
        """So many rounds, each with the passes that it asks for."""
        for _ in range(number):
            self.time += timedelta(seconds=30)
            self.engines.now = self.time.timestamp()
            asyncio.run(self.watch.round())
            for name in {*self.changed}:
                self.reconcile(name)
            self.changed.clear()

    def pods(self) -> list[Manifest]:
        return asyncio.run(self.cluster.list("Pod", NAMESPACE))

    def evicted(self) -> list[str]:
        return [ref.name for verb, ref in self.cluster.writes if verb == "evict"]

    def told(self) -> list[str]:
        """The messages about engines that hang."""
        events = asyncio.run(self.cluster.list("Event", NAMESPACE))
        return [item["message"] for item in events if item["reason"] == "EngineStalled"]

    def progressing(self) -> tuple[str, str]:
        found = self.condition("EngineProgressing")
        return found.get("status", ""), found.get("reason", "")

    @property
    def state(self) -> StallState:
        (state,) = self.watch.states.values()
        return state

    def _moment(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time


def test_engines_that_work_or_idle_cost_no_write_and_no_question() -> None:
    world = StallWorld().served()
    world.writes()
    world.rounds(20)
    world.engines.running = 0.0
    world.engines.hung = {"chat-0", "chat-1"}
    world.rounds(20)
    assert (world.writes(), world.engines.asked) == ([], 0)
    assert world.progressing() == ("", "")


def test_an_engine_that_hangs_is_told_of_with_figures_and_evicted() -> None:
    world = StallWorld().served()
    world.engines.hung = {"chat-1"}
    world.rounds(4)
    assert world.evicted() == []
    world.rounds(1)
    assert world.evicted() == ["chat-1"]
    (message,) = world.told()
    assert all(part in message for part in ("chat-1", "3", "2m00s", "10 minutes"))
    assert world.progressing() == ("False", "EngineStalled")
    assert (world.state.stalls_found, world.state.restarts) == (1, 1)


def test_it_is_over_when_the_replica_is_back() -> None:
    world = StallWorld().served()
    world.engines.hung = {"chat-1"}
    world.rounds(5)
    world.engines.hung.clear()
    world.writes()
    world.ready()
    world.rounds(10)
    assert world.progressing() == ("True", "EngineProgressing")
    assert [write for write in world.writes() if "status" in write] == ["apply_status LLMService chat"]


def test_one_restart_in_ten_minutes() -> None:
    world = StallWorld().served()
    world.engines.hung = {"chat-0", "chat-1"}
    world.rounds(5)
    world.ready()
    world.rounds(15)
    assert len(world.evicted()) == 1
    assert world.state.restarts == 1
    assert len(world.told()) == 2  # the second engine hangs, and is restarted later
    world.rounds(10)
    assert len(world.evicted()) == 2


def test_a_new_leader_restarts_nothing_within_ten_minutes_of_the_last_one() -> None:
    world = StallWorld().served()
    world.engines.hung = {"chat-0", "chat-1"}
    world.rounds(5)
    assert world.evicted() == ["chat-0"] or world.evicted() == ["chat-1"]
    world.ready()
    world.lead()
    world.rounds(15)
    assert len(world.evicted()) == 1
    assert world.progressing() == ("False", "EngineStalled")
    world.rounds(10)
    assert len(world.evicted()) == 2


def test_an_engine_that_answers_is_left_alone_whatever_its_metrics_say() -> None:
    world = StallWorld().served()
    world.engines.hung, world.engines.answer = {"chat-0", "chat-1"}, Answer.SERVED
    world.rounds(30)
    assert world.engines.asked > 0
    assert (world.evicted(), world.told(), world.progressing()) == ([], [], ("", ""))


def test_an_engine_that_cannot_be_asked_is_told_of_and_not_restarted() -> None:
    world = StallWorld().served()
    world.engines.hung, world.engines.answer = {"chat-1"}, Answer.UNTOLD
    world.rounds(30)
    assert (world.evicted(), len(world.told())) == ([], 1)
    assert world.progressing() == ("False", "EngineStalled")


def test_an_engine_whose_metrics_show_no_steps_is_never_taken_to_hang() -> None:
    """A proxy counts requests only, and a long answer looks like a hanging engine."""
    world = StallWorld().served()
    world.engines.hung, world.engines.shows_steps = {"chat-1"}, False
    world.rounds(30)
    assert (world.evicted(), world.told(), world.engines.asked) == ([], [], 0)


def test_unreadable_is_not_hung() -> None:
    world = StallWorld().served()
    world.engines.hung = {"chat-1"}
    world.rounds(3)
    world.engines.unreadable = {"chat-1"}
    world.rounds(20)
    world.engines.unreadable = set()
    world.rounds(2)
    assert (world.evicted(), world.told()) == ([], [])


def test_it_is_not_restarted_while_another_replica_is_not_ready() -> None:
    world = StallWorld().served()
    world.engines.hung = {"chat-1"}
    unready = {"type": "Ready", "status": "False"}
    world.cluster.edit(
        Ref("Pod", NAMESPACE, "chat-0"), lambda live: live["status"].update(conditions=[unready]), subresource="status"
    )
    world.rounds(10)
    assert (world.evicted(), len(world.told())) == ([], 1)
    world.ready()
    ready = {"type": "Ready", "status": "True"}
    world.cluster.edit(
        Ref("Pod", NAMESPACE, "chat-0"), lambda live: live["status"].update(conditions=[ready]), subresource="status"
    )
    world.rounds(1)
    assert world.evicted() == ["chat-1"]


def test_without_the_right_it_is_told_of_once() -> None:
    world = StallWorld().served()
    world.engines.hung = {"chat-1"}
    world.fail("evict", "Pod", Refused("Forbidden", "pods is forbidden"))
    world.rounds(10)
    assert len(world.told()) == 1
    assert world.progressing() == ("False", "EngineStalled")
    assert world.state.restarts == 0


def test_a_budget_that_allows_none_is_asked_again() -> None:
    world = StallWorld().served()
    world.engines.hung = {"chat-1"}
    world.fail("evict", "Pod", Unavailable("TooManyRequests", "would violate the pod's disruption budget"))
    world.rounds(6)
    assert (world.evicted(), len(world.told())) == ([], 1)
    world.cluster.before = lambda *_: None
    world.rounds(1)
    assert world.evicted() == ["chat-1"]


def test_processors_are_given_more_time() -> None:
    world = StallWorld()
    world.serving(spec__replicas=1)
    world.ready()
    world.time += timedelta(hours=1)
    world.engines.hung = {"chat-0"}
    world.rounds(15)
    assert world.told() == []
    world.rounds(10)
    assert len(world.told()) == 1


def test_zero_seconds_turn_it_off() -> None:
    world = StallWorld().served()
    world.engines.hung = {"chat-1"}
    world.rounds(4)
    world.lead(stall_seconds=0.0)
    world.reconcile()
    assert world.progressing() == ("", "")


def test_too_many_requests_at_once_are_told_with_the_number_to_set_until_it_is_over() -> None:
    world = StallWorld().served(spec__maxNumSeqs=4)
    world.rounds(1)
    world.writes()
    world.engines.interrupting = True
    world.rounds(40)
    assert world.progressing() == ("False", "ConcurrencyTooHigh")
    assert "spec.maxNumSeqs to 2" in world.condition("EngineProgressing")["message"]
    world.engines.interrupting = False
    world.rounds(40)
    assert world.progressing() == ("True", "EngineProgressing")
    assert world.writes().count("apply_status LLMService chat") <= 4
    assert world.evicted() == []


def test_a_new_leader_says_nothing_else_until_it_knows_better() -> None:
    world = StallWorld().served(spec__maxNumSeqs=4)
    world.engines.interrupting = True
    world.rounds(20)
    world.lead()
    world.writes()
    world.rounds(40)
    assert world.progressing() == ("False", "ConcurrencyTooHigh")
    assert world.writes().count("apply_status LLMService chat") <= 2  # its numbers


def test_a_suspended_service_has_no_engines_to_tell_of() -> None:
    world = StallWorld().served()
    world.engines.hung, world.engines.answer = {"chat-1"}, Answer.UNTOLD
    world.rounds(6)
    assert world.progressing() == ("False", "EngineStalled")
    world.apply(spec__suspend=True)
    world.reconcile()
    assert world.progressing() == ("", "")


def test_what_is_gone_is_forgotten() -> None:
    world = StallWorld().served()
    world.rounds(1)
    world.cluster.remove(Ref("LLMService", NAMESPACE, "chat"))
    world.rounds(1)
    assert world.watch.states == {}


def test_autoscaled_services_are_read_by_the_autoscaler_alone() -> None:
    world, engines = ScaledWorld().scaled(), Engines()
    handler = StallHandler(cluster=world.cluster, ask=engines.ask, now=lambda: world.time, stall_seconds=120.0)
    watch = StallWatch(
        cache=world.cache,
        unscaled=UnscaledEngines(cache=world.cache, sources={"Pods": engines}, metric_names=lambda *_: MetricNames()),
        handler=handler,
        changed=lambda _: None,
    )
    world.autoscaler.noted = watch.note
    world.source.running = 3.0
    for _ in range(80):
        world.round()
        asyncio.run(watch.round())
    (state,) = watch.states.values()
    assert engines.read_of == []
    assert (state.stalls_found, engines.asked > 0) == (1, True)
