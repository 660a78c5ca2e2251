"""The operator's parts on a cluster at a distance, in virtual time; users, controllers and garbage beside it."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.controllers.triggers import enqueue_owner
from llmservice.converging.pod_readings import ReadFailure, Reading
from llmservice.engines.metric_names import MetricNames
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers import work_queue
from llmservice.reconcilers.accounts import Accounts
from llmservice.reconcilers.activation.held_requests import HeldRequests
from llmservice.reconcilers.activation.sleepers import Sleepers
from llmservice.reconcilers.llmservice import LLMServiceReconciler
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.reconcilers.scaling.autoscaler import PERIOD_SECONDS, Autoscaler
from llmservice.reconcilers.scaling.resting import Resting
from llmservice.reconcilers.scaling.scale_writer import ScaleWriter
from llmservice.reconcilers.scaling.scaled_services import ScaledServices
from llmservice.reconcilers.scaling.service_scaler import ServiceScaler
from llmservice.reconcilers.scaling.service_states import ServiceStates
from llmservice.reconcilers.stall_handler import StallHandler
from llmservice.reconcilers.stall_reading import UnscaledEngines
from llmservice.reconcilers.stall_watch import StallWatch
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import ServiceKey, work
from llmservice.rendering.manifests import CHILD_KINDS
from llmservice.signals.one_token import Answer
from llmservice.signals.source import Target
from tests.scenarios.late_cluster import Delays, LateAnswers, LateGarbage, Streams
from tests.scenarios.late_controllers import Controllers
from tests.scenarios.test_cost import priced
from tests.scenarios.zero_world import FakeActivators
from tests.unit.autoscaling.builders import counters

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_CATALOGUE = priced(0.8)


@dataclass
class LateSource:
    """Engines that have nothing to do, and answer when they come to it."""

    delays: Delays
    now: Callable[[], float]

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        await asyncio.sleep(max(0.0, self.delays.take()))
        return dict.fromkeys(targets, Reading(counters=counters(self.now(), running=0.0)))


@dataclass
class LateWorld:
    """One namespace; everything that the operator's leader runs works on it by itself."""

    delays: Delays
    loop: asyncio.AbstractEventLoop
    cache: ObjectCache = field(default_factory=ObjectCache)
    cluster: LateGarbage = field(init=False)
    queue: WorkQueue[ServiceKey] = field(init=False)
    born: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.queue = WorkQueue(chance=lambda: 0.5)
        self.cluster = LateGarbage(cache=Streams(self.cache, self.delays), now=self.now)
        self.controllers = Controllers(self.cluster, self.now)
        late, planner = LateAnswers(self.cluster, self.delays), CataloguePlanner(_CATALOGUE)
        source, changed = LateSource(self.delays, self.seconds), self.queue.add
        self._scale(late, planner, source)
        self._watch(late, source)
        self.reconciler = LLMServiceReconciler(
            cluster=late,
            cache=self.cache,
            observer=Observer(cluster=late, cache=self.cache, child_kinds=(*CHILD_KINDS, "EndpointSlice")),
            plan=planner,
            now=self.now,
            scaling=self.states.report,
            engine=self.stalls.condition,
            sleepers=self.sleepers,
        )
        for part in (self.reconciler.children, self.reconciler.status, self.reconciler.rollouts):
            part.clock = self.seconds
        self.accounts = Accounts(cache=self.cache, catalogue=lambda: _CATALOGUE, clock=self.seconds, changed=changed)
        self.accounts.listen_to(self.cache)
        self.stalls.noted, self.reconciler.status.completed = self.accounts.note, self.accounts.with_cost
        is_foreign = self.reconciler.status.is_foreign
        self.cache.listen(functools.partial(enqueue_owner, self.queue, is_foreign=is_foreign))
        self.cache.listen(self.reconciler.forget)

    def _scale(self, late: LateAnswers, planner: CataloguePlanner, source: LateSource) -> None:
        self.states = ServiceStates()
        self.autoscaler = Autoscaler(
            services=ScaledServices(cache=self.cache, states=self.states, plan=planner),
            scaler=ServiceScaler(
                writer=ScaleWriter(cluster=late, cache=self.cache, now=self.now),
                changed=self.queue.add,
                clock=self.seconds,
                period_seconds=PERIOD_SECONDS,
            ),
            sources={"Pods": source},
        )
        self.autoscaler.listen_to(self.cache)
        self.sleepers = Sleepers(
            cache=self.cache,
            activators=FakeActivators(),
            states=self.states,
            held=HeldRequests(),
            hurry=self.autoscaler.hurry,
            changed=self.queue.add,
            clock=self.seconds,
        )
        self.autoscaler.scaler.resting = Resting(
            door=self.sleepers, later=self.loop.call_later, hurry=self.autoscaler.hurry
        )

    def _watch(self, late: LateAnswers, source: LateSource) -> None:
        self.stalls = StallWatch(
            cache=self.cache,
            unscaled=UnscaledEngines(cache=self.cache, sources={"Pods": source}, metric_names=lambda *_: MetricNames()),
            handler=StallHandler(cluster=late, ask=_nothing, now=self.now, stall_seconds=120.0),
            changed=self.queue.add,
        )
        self.autoscaler.noted = self.stalls.note

    def seconds(self) -> float:
        """Since 1970."""
        return _BEGIN.timestamp() + self.loop.time()

    def now(self) -> datetime:
        """The same as a time."""
        return _BEGIN + timedelta(seconds=self.loop.time())

    async def play(self, users: Callable[["LateWorld"], Awaitable[None]], calm_seconds: float) -> None:
        """Let users act; then nothing changes for a while."""
        with patch.object(work_queue, "time", SimpleNamespace(monotonic=self.loop.time)):
            controlling = asyncio.create_task(self.controllers.run())
            self.term = asyncio.create_task(self._lead())
            await users(self)
            self.delays.calm = True
            await asyncio.sleep(calm_seconds)
            assert not controlling.done()
            assert not self.term.done()
            await _end(controlling, self.term)

    async def lead_anew(self) -> None:
        """The term ends in the midst of whatever is done, and another one begins."""
        await _end(self.term)
        self.term = asyncio.create_task(self._lead())

    async def _lead(self) -> None:
        for body in self.cache.of_kind("LLMService"):
            self.queue.add((body["metadata"]["namespace"], body["metadata"]["name"]))
        async with asyncio.TaskGroup() as group:
            for part in (self.autoscaler, self.accounts, self.stalls):
                group.create_task(part.run())
            for _ in range(2):
                group.create_task(work(self.queue, self.reconciler))

    def resource(self, name: str) -> Manifest | None:
        """The LLMService of this name."""
        return self.cluster.peek(Ref("LLMService", "ml", name))


async def _nothing(*_: object) -> Answer:
    return Answer.UNTOLD


async def _end(*tasks: "asyncio.Task[Any]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
