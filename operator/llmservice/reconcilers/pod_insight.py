"""What a pod's status does not contain: the log of a crashed engine, and why a container is not created.

A log is read once for each termination of the engine, its last 64 kB. Events of a pod are read until its volumes are
mounted and its sandbox is created: every few seconds, less often once there is a warning, and rarely afterwards.
Neither is needed to converge: what cannot be read now is read later. Few reads run concurrently, and namespaces take
turns.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from llmservice.cluster.cluster import Cluster
from llmservice.converging.preparation import UNPREPARED, Preparation, preparation
from llmservice.errors import OperatorError
from llmservice.fairness.slots import FairSlots
from llmservice.objects.names import CONTAINER_NAME
from llmservice.objects.pods import (
    condition,
    engine_of,
    has_started,
    is_living,
    is_placed,
    is_ready,
    last_end_of,
    newest_first,
    waiting_of,
)
from llmservice.objects.references import Manifest, ref_of, uid_of
from llmservice.reconcilers.remembered_logs import RememberedLogs

log = logging.getLogger(__name__)

_ANSWERED_SECONDS = 5.0
_UNTIL_FIRST_SECONDS = 4.0
_WARNED_SECONDS = 20.0
_PREPARED_SECONDS = 60.0
_PULLING_SECONDS = 30.0
_UNREAD_SECONDS = 20.0
_PODS_AT_MOST = 4
_READ_AT_ONCE = 8
_REMEMBERED_AT_MOST = 256
_TERMINATION_MESSAGE_BYTES = 1900
"""The kubelet truncates a termination message at 2 kB: the cause may be further up in the log."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Insight:
    """Log tails and preparations by pod name, and the seconds until they should be read again."""

    log_tails: dict[str, str]
    preparations: dict[str, Preparation]
    requeue_seconds: float | None


@dataclass(slots=True)
class PodInsight:
    """Reads logs and Events of pods that are not ready, and caches them."""

    cluster: Cluster
    _logs: RememberedLogs = field(default_factory=RememberedLogs)
    _slots: FairSlots[str] = field(default_factory=lambda: FairSlots(_READ_AT_ONCE))
    _preparations: OrderedDict[str, tuple[float, Preparation]] = field(default_factory=OrderedDict)

    async def read(self, pods: Iterable[Manifest]) -> Insight:
        """Reads what the checks need of the newest pods that are not ready; in the order of the checks."""
        logs: dict[str, str] = {}
        preparations: dict[str, Preparation] = {}
        pauses: list[float] = []
        unready = [pod for pod in pods if is_living(pod) and not is_ready(pod)]
        for pod in newest_first(unready)[:_PODS_AT_MOST]:
            name = pod["metadata"]["name"]
            if _has_long_end(pod):
                text = await self._log(pod)
                logs[name] = text or ""
                pauses += [_UNREAD_SECONDS] if text is None else []
            if _is_being_prepared(pod):
                preparations[name] = await self._preparation(pod)
                pauses.append(_pause_for(preparations[name]))
        return Insight(logs, preparations, min(pauses, default=None))

    async def _log(self, pod: Manifest) -> str | None:
        """The log of the run that terminated last; None when its node does not answer."""
        engine, now, namespace = engine_of(pod), asyncio.get_running_loop().time(), pod["metadata"]["namespace"]
        end, previous = last_end_of(engine), "terminated" not in engine.get("state", {})
        # Read again once it is the previous run: right after termination the log may already be that of the next one.
        key = (
            uid_of(pod),
            f"{end.get('containerID') or end.get('finishedAt') or engine.get('restartCount')} {previous}",
        )
        read_at, text = self._logs.get(namespace, key) or (-_UNREAD_SECONDS, None)
        if text is None and now - read_at >= _UNREAD_SECONDS:
            text = await self._answered(
                lambda: self.cluster.log_tail(ref_of(pod), CONTAINER_NAME, previous=previous), pod
            )
            self._logs.put(namespace, key, (now, text))
        return text

    async def _preparation(self, pod: Manifest) -> Preparation:
        uid, now = uid_of(pod), asyncio.get_running_loop().time()
        read_at, known = self._preparations.get(uid, (-_PREPARED_SECONDS, Preparation()))
        if now - read_at < _pause_for(known):
            return known
        selector = f"involvedObject.uid={uid}"
        namespace = pod["metadata"]["namespace"]
        events: Sequence[Manifest] | None = await self._answered(
            lambda: self.cluster.list("Event", namespace, field_selector=selector), pod
        )
        known = known if events is None else preparation(events)
        self._preparations[uid] = (now, known)
        while len(self._preparations) > _REMEMBERED_AT_MOST:
            self._preparations.popitem(last=False)
        return known

    async def _answered(self, ask: Callable[[], Awaitable[T]], pod: Manifest) -> T | None:
        """The answer, in this namespace's turn; None after a timeout or an error."""
        try:
            async with asyncio.timeout(_ANSWERED_SECONDS), self._slots.slot(pod["metadata"]["namespace"]):
                return await ask()
        except (OperatorError, TimeoutError) as problem:
            why = str(problem) or "no answer"
            log.info("%s: reading logs or events failed, retrying later: %s", ref_of(pod), why)
            return None


def _pause_for(known: Preparation) -> float:
    """Seconds until the Events of a pod are read again."""
    if known.pulling:
        return _PULLING_SECONDS
    if known.over:
        return _PREPARED_SECONDS
    return _WARNED_SECONDS if known.warning else _UNTIL_FIRST_SECONDS


def _is_being_prepared(pod: Manifest) -> bool:
    """Whether the kubelet has yet to create the sandbox or the container, for the first time or again."""
    if waiting_of(engine_of(pod)).get("reason") in UNPREPARED:
        return True
    return is_placed(pod) and condition(pod, "PodReadyToStartContainers").get("status") == "False"


def _has_long_end(pod: Manifest) -> bool:
    engine = engine_of(pod)
    return not has_started(engine) and len(last_end_of(engine).get("message") or "") >= _TERMINATION_MESSAGE_BYTES
