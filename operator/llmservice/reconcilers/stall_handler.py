"""An engine that seems to hang: it is asked for a token, told of, and restarted where nothing speaks against it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.cluster.cluster import Cluster
from llmservice.converging.conditions import Condition
from llmservice.converging.engine_restarts import (
    GRACE_SECONDS,
    NOT_ALLOWED,
    NOT_NOW,
    RESTARTED,
    Stall,
    obstacle,
    stalled_condition,
    stalled_message,
)
from llmservice.converging.events import event
from llmservice.converging.scaled_pods import ScaledPod
from llmservice.errors import OperatorError, Refused, Terminating
from llmservice.fairness.slots import FairSlots
from llmservice.models.model_facts import Task
from llmservice.objects.references import Ref
from llmservice.reconcilers.stall_states import StallState
from llmservice.signals.one_token import Answer

log = logging.getLogger(__name__)

_ASKED_AT_ONCE = 32
_TURN_SECONDS = 15.0
"""Whose turn to be asked does not come within this time is asked in a later round."""
_RIGHT_AGAIN_SECONDS = 600.0

Ask = Callable[[ScaledPod, str, Task], Awaitable[Answer]]
"""Asks a pod for as little as the model of this name can do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StallHandler:
    """Settles one service after the other. `now` is the clock (UTC)."""

    cluster: Cluster
    ask: Ask
    now: Callable[[], datetime]
    stall_seconds: float
    slots: FairSlots[str] = field(default_factory=lambda: FairSlots(_ASKED_AT_ONCE))

    async def settle(self, state: StallState) -> bool:
        """Find out what hangs, restart one of them if it may be; whether the status is to say something else."""
        before = state.condition
        await self._confirm(state)
        state.condition = await self._handled(state)
        return state.condition != before

    async def _confirm(self, state: StallState) -> None:
        """Ask those that seem to hang: what answers does not.

        It takes a while, and readings come meanwhile: of a pod that is gone, was started again or works, an answer
        tells nothing any more.
        """
        suspects = state.suspects(self.stall_seconds)
        answers = await asyncio.gather(*(self._asked(pod, state) for pod in suspects))
        silent = dict[str, bool]()
        for pod, answer in zip(suspects, answers, strict=True):
            if answer is Answer.SERVED:
                state.works(pod)
            elif answer is not None:
                silent[pod.uid] = answer is Answer.SILENT
            elif (known := state.stalls.get(pod.uid)) is not None:
                silent[pod.uid] = known.silent
        still = {pod.uid for pod in state.suspects(self.stall_seconds)}
        state.hang({uid: asked for uid, asked in silent.items() if uid in still})

    async def _asked(self, pod: ScaledPod, state: StallState) -> Answer | None:
        """Its answer; None where its turn did not come: no namespace keeps the others from being asked."""
        async with AsyncExitStack() as turn:
            try:
                async with asyncio.timeout(_TURN_SECONDS):
                    await turn.enter_async_context(self.slots.slot(state.key[0]))
            except TimeoutError:
                return None
            return await self.ask(pod, state.service.model, state.service.task)

    async def _handled(self, state: StallState) -> Condition | None:
        """What the status is to say, after a restart where one may be."""
        worst = max(state.stalls.values(), key=lambda stall: (stall.silent, stall.seconds, stall.pod), default=None)
        if worst is None:
            return state.condition if state.is_replacing() else state.preemptions.condition
        outcome = await self._restarted(state, worst)
        if (worst.uid, outcome) not in state.told:
            state.told.add((worst.uid, outcome))
            await self._tell(state, stalled_message(worst, outcome))
        return stalled_condition(worst, outcome)

    async def _restarted(self, state: StallState, stall: Stall) -> str:
        """Restart the engine; returns what becomes of it."""
        now = self.now().timestamp()
        allowed = state.refused_at is None or now - state.refused_at >= _RIGHT_AGAIN_SECONDS
        why_not = obstacle(stall, state.service.pods, state.last_restart_at, now, allowed=allowed)
        if why_not:
            return why_not
        try:
            pod = Ref("Pod", state.key[0], stall.pod)
            await self.cluster.evict(pod, uid=stall.uid, grace_seconds=GRACE_SECONDS)
        except Refused as refusal:
            state.refused_at = now
            log.info("%s/%s: %s is not restarted: %s", *state.key, stall.pod, refusal)
            return NOT_ALLOWED
        except OperatorError as error:
            log.warning("%s/%s: %s is not restarted now: %s", *state.key, stall.pod, error)
            return NOT_NOW
        state.last_restart_at, state.restarts = now, state.restarts + 1
        return RESTARTED

    async def _tell(self, state: StallState, message: str) -> None:
        """Write an Event; one that cannot be written leaves a line in the log."""
        log.warning("%s/%s: %s: %s", *state.key, Reason.ENGINE_STALLED, message)
        told = event(state.service.body, kind="Warning", reason=Reason.ENGINE_STALLED, message=message, now=self.now())
        try:
            await self.cluster.record(told)
        except Terminating:
            return
        except OperatorError as error:
            log.warning("%s/%s: event not written: %s", *state.key, error)
