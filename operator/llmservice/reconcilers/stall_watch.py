"""Watches the engines of all services: whether they hang, and whether they interrupt too many requests.

What the autoscaler reads every ten seconds is used as it comes; services that are not autoscaled are read here, every
thirty seconds.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.concurrency import WINDOW_SECONDS
from llmservice.converging.conditions import Condition, condition_in
from llmservice.converging.pod_readings import PodReadings
from llmservice.converging.scaled_pods import ScaledPod
from llmservice.models.model_facts import Task
from llmservice.objects.references import Manifest, uid_of
from llmservice.reconcilers.stall_handler import StallHandler
from llmservice.reconcilers.stall_reading import Note, UnscaledEngines
from llmservice.reconcilers.stall_states import StallState, WatchedService, begun
from llmservice.reconcilers.workers import ServiceKey

log = logging.getLogger(__name__)

_PERIOD_SECONDS = 30.0
_FORGOTTEN_SECONDS = 100.0
_UNDECIDED_SECONDS = 60.0
"""Beyond the time that an engine may do nothing: until then a new leader leaves the status as it is."""


@dataclass(slots=True, kw_only=True)
class StallWatch:
    """Watches while this process leads.

    `unscaled` are the engines that the autoscaler does not read. `changed` is called with the key of a resource of
    which the status is to say something else. `noted` hears of all that was read, as `note` does.
    """

    cache: ObjectCache
    unscaled: UnscaledEngines
    handler: StallHandler
    changed: Callable[[ServiceKey], None]
    noted: Note = lambda *_: None
    states: dict[str, StallState] = field(default_factory=dict)
    _led_since: float | None = None

    @property
    def is_on(self) -> bool:
        """Whether engines are watched at all."""
        return self.handler.stall_seconds > 0

    async def run(self) -> NoReturn:
        """One term of leadership, until cancelled; others lead before and after, so nothing is known beyond it."""
        loop = asyncio.get_running_loop()
        self.states.clear()
        self._led_since = self.handler.now().timestamp()
        try:
            while True:
                began = loop.time()
                if self.is_on:
                    await self.round()
                await asyncio.sleep(max(1.0, began + _PERIOD_SECONDS - loop.time()))
        finally:
            self.states.clear()

    async def round(self) -> None:
        """Read those that nobody else reads, then settle all."""
        try:
            await self.unscaled.read(self.note)
        except Exception:
            log.exception("defect while engines are read")
        self._forget()
        async with asyncio.TaskGroup() as tasks:
            for state in [*self.states.values()]:
                tasks.create_task(self._settle(state))
                await asyncio.sleep(0)

    def note(self, body: Manifest, pods: Sequence[ScaledPod], readings: PodReadings) -> None:
        """Remember what was read of a service, whoever read it."""
        self.noted(body, pods, readings)
        service = _watched(body, pods) if self.is_on else None
        if service is None:
            return
        now = self.handler.now().timestamp()
        self._led_since = now if self._led_since is None else self._led_since
        state = self.states.get(service.uid)
        if state is None:
            state = self.states[service.uid] = begun(service, self._led_since, now)
        state.note(service, readings, now)

    def condition(self, uid: str, status: Mapping[str, Any]) -> Condition | None:
        """EngineProgressing of a resource (by UID) with this status; None where it has none."""
        before, state = _condition_before(status), self.states.get(uid)
        if not self.is_on:
            return None
        if state is not None and state.condition is not None:
            return state.condition
        if before is None or before.status:
            return before
        return before if state is None or self._is_undecided(state, before.reason) else _PROGRESSING

    def _forget(self) -> None:
        """Drop what is known of services that are gone, suspended, or read by nobody any more."""
        uids = {uid_of(body) for body in self.cache.of_kind("LLMService")}
        oldest = self.handler.now().timestamp() - _FORGOTTEN_SECONDS
        for uid, state in [*self.states.items()]:
            if uid not in uids or state.noted_at < oldest:
                del self.states[uid]

    def _is_undecided(self, state: StallState, reason: Reason) -> bool:
        """Whether it is watched for less time than it takes to find the problem that the status has."""
        if reason is Reason.CONCURRENCY_TOO_HIGH:
            return self.handler.now().timestamp() - state.began < WINDOW_SECONDS + _UNDECIDED_SECONDS
        allowed = [state.allowed_seconds(known, self.handler.stall_seconds) for known in state.progress.values()]
        watched = self.handler.now().timestamp() - state.began
        return state.stalls_found == 0 and watched < max(allowed, default=0.0) + _UNDECIDED_SECONDS

    async def _settle(self, state: StallState) -> None:
        try:
            if await self.handler.settle(state):
                self.changed(state.key)
        except Exception:
            log.exception("%s/%s: defect while engines are watched", *state.key)


_PROGRESSING = Condition(
    type=ConditionType.ENGINE_PROGRESSING,
    status=True,
    reason=Reason.ENGINE_PROGRESSING,
    message="engines that have requests produce tokens",
)


def _condition_before(status: Mapping[str, Any]) -> Condition | None:
    """What the status says; None where it says nothing, or what a newer operator said."""
    said = condition_in(status, ConditionType.ENGINE_PROGRESSING)
    if said.get("reason") not in set(Reason):
        return None
    return Condition(
        type=ConditionType.ENGINE_PROGRESSING,
        status=said["status"] == "True",
        reason=Reason(said["reason"]),
        message=str(said.get("message", "")),
    )


def _task(plan: Mapping[str, Any]) -> Task:
    """What the model is asked for; a newer operator may know more kinds."""
    said = plan.get("task")
    return Task(said) if said in set(Task) else Task.GENERATE


def _watched(body: Manifest, pods: Sequence[ScaledPod]) -> WatchedService | None:
    status = body.get("status") or {}
    plan, models = status.get("plan") or {}, status.get("models") or ()
    if not plan or not models:
        return None
    return WatchedService(
        key=(body["metadata"]["namespace"], body["metadata"]["name"]),
        uid=uid_of(body),
        body=body,
        pods=tuple(pods),
        devices=int(plan.get("devices", 0)),
        max_num_seqs=int(plan.get("maxNumSeqs", 0)),
        model=str(models[0]),
        task=_task(plan),
    )
