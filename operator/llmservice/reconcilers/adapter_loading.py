"""Adapters of engines that run: each ready replica is asked what it has, and told what to load and unload.

A replica is asked when it became ready, when its engine was started again, and when the adapters of the resource
changed; what failed is tried again, ever less often. What it was told is remembered as long as the process lives: a new
leader asks each replica once. Between the moment at which a replica is ready and the answers to these requests, some
seconds, it serves the model alone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from llmservice.converging.adapters import LoadedAdapters
from llmservice.converging.scaled_pods import PodPhase, ScaledPod, scaled_pods
from llmservice.engines.adapters import Adapter, AdapterCall, LiveAdapters
from llmservice.engines.registry import ENGINES
from llmservice.fairness.slots import FairSlots
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.signals.engine_requests import EngineAnswer

log = logging.getLogger(__name__)

_AT_ONCE = 16
_PATIENCE_SECONDS = 0.25
"""A pass waits so long for replicas that answer at once."""
_AGAIN_SECONDS = 1.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 5.0, 300.0

GetPage = Callable[[str, str], Awaitable[EngineAnswer]]
"""GET of a path from the pod at an address."""
PostJson = Callable[[str, str, bytes], Awaitable[EngineAnswer]]
"""POST of JSON to a path of the pod at an address."""


class AdapterReport(NamedTuple):
    """What ready replicas have, and the seconds until one should be asked again; None when none should."""

    replicas: Sequence[LoadedAdapters] = ()
    requeue_seconds: float | None = None


@dataclass(slots=True)
class _Replica:
    """One run of an engine. `due` is the time of the next attempt, None where all is as wanted."""

    wanted: tuple[Adapter, ...]
    known: LoadedAdapters
    due: float | None = 0.0
    pause: float = 0.0
    task: asyncio.Task[None] | None = None


@dataclass(slots=True, kw_only=True)
class AdapterLoading:
    """Loads adapters into replicas that run, a few at once; namespaces take turns."""

    get_page: GetPage
    post_json: PostJson
    _replicas: dict[str, dict[str, _Replica]] = field(default_factory=dict)
    _slots: FairSlots[str] = field(default_factory=lambda: FairSlots(_AT_ONCE))

    def forget(self, uid: str) -> None:
        """Forget a resource that was deleted."""
        _leave(self._replicas.pop(uid, {}).values())

    async def settle(self, plan: ServicePlan, pods: Sequence[Manifest]) -> AdapterReport:
        """Ask and tell the ready ones of these pods, where adapters change while they run. Raises nothing."""
        support = ENGINES[plan.engine].capabilities.adapters
        live = support.live if support is not None and plan.live_adapters else None
        if live is None:
            self.forget(plan.owner.uid)
            return AdapterReport()
        ready = {_run_of(pod): pod for pod in scaled_pods(pods) if pod.phase is PodPhase.READY and pod.address}
        before = self._replicas.get(plan.owner.uid, {})
        replicas = {run: before.get(run) or _begun(plan, pod) for run, pod in ready.items()}
        self._replicas[plan.owner.uid] = replicas
        _leave(replica for run, replica in before.items() if run not in replicas)
        for run, replica in replicas.items():
            self._start(plan, live, ready[run], replica)
        if under_way := [replica.task for replica in replicas.values() if replica.task is not None]:
            await asyncio.wait(under_way, timeout=_PATIENCE_SECONDS)
        return AdapterReport([replica.known for replica in replicas.values()], _soonest(replicas.values()))

    def _start(self, plan: ServicePlan, live: LiveAdapters, pod: ScaledPod, replica: _Replica) -> None:
        if replica.task is not None:
            return
        if replica.wanted != plan.adapters:
            replica.wanted, replica.due, replica.pause = plan.adapters, 0.0, 0.0
            replica.known = LoadedAdapters(pod=pod.name)
        if replica.due is not None and replica.due <= _now():
            replica.task = asyncio.create_task(self._settled(plan.owner.namespace, live, pod.address, replica))

    async def _settled(self, namespace: str, live: LiveAdapters, address: str, replica: _Replica) -> None:
        try:
            async with self._slots.slot(namespace):
                failures = await self._failures(live, address, replica.wanted)
        except Exception:
            log.exception("%s: defect while adapters are loaded", replica.known.pod)
            failures = {"": "a defect of the operator; see its log"}
        finally:
            replica.task = None
        replica.known = LoadedAdapters(pod=replica.known.pod, settled=True, failures=failures)
        pause = min(_LONGEST_PAUSE_SECONDS, 2 * replica.pause or _FIRST_PAUSE_SECONDS)
        replica.pause, replica.due = (pause, _now() + pause) if failures else (0.0, None)

    async def _failures(self, live: LiveAdapters, address: str, wanted: Sequence[Adapter]) -> dict[str, str]:
        """Bring about what is wanted; returns what failed, by the name of the adapter."""
        calls = await self._calls(live, address, wanted)
        if isinstance(calls, str):
            return {"": calls}
        failures = {}
        for call in calls:
            answer = await self.post_json(address, call.path, call.body)
            if answer.problem:
                failures[call.adapter] = answer.problem
        left = await self._calls(live, address, wanted) if calls else ()
        if isinstance(left, str):
            return {**failures, "": left}
        return {**{call.adapter: "the engine took it, and does not list it" for call in left}, **failures}

    async def _calls(
        self, live: LiveAdapters, address: str, wanted: Sequence[Adapter]
    ) -> tuple[AdapterCall, ...] | str:
        """The requests that are needed, or why that is not known."""
        page = await self.get_page(address, live.page)
        if page.problem:
            return page.problem
        try:
            return live.calls(wanted, page.body)
        except ValueError as error:
            return str(error)


def no_loading() -> AdapterLoading:
    """Reaches no replica."""

    async def unreached(_address: str, _path: str, _body: bytes = b"") -> EngineAnswer:
        return EngineAnswer(problem="replicas are not asked")

    return AdapterLoading(get_page=unreached, post_json=unreached)


def _leave(gone: Iterable[_Replica]) -> None:
    """Ask these no more: another pod may get the address of one that is gone."""
    for replica in gone:
        if replica.task is not None:
            replica.task.cancel()


def _begun(plan: ServicePlan, pod: ScaledPod) -> _Replica:
    return _Replica(wanted=plan.adapters, known=LoadedAdapters(pod=pod.name))


def _run_of(pod: ScaledPod) -> str:
    """One run of its engine: what was loaded is gone when it is started again."""
    return f"{pod.uid} {pod.restarts}"


def _soonest(replicas: Iterable[_Replica]) -> float | None:
    """Seconds until a pass should look on."""
    pauses = [
        _AGAIN_SECONDS if replica.due is None else max(_AGAIN_SECONDS, replica.due - _now())
        for replica in replicas
        if replica.task is not None or replica.due is not None
    ]
    return min(pauses, default=None)


def _now() -> float:
    return asyncio.get_running_loop().time()
