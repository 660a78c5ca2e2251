"""Writes the status, which belongs to the operator alone, and the Events of what it tells anew."""

import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import orjson

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.conditions import own_part
from llmservice.converging.events import transition_event
from llmservice.converging.repairs import Repairs, after_write
from llmservice.converging.startup_events import ended_start, startup_event
from llmservice.errors import OperatorError, Terminating
from llmservice.objects.names import OPERATOR
from llmservice.objects.references import Manifest, ref_of, uid_of

log = logging.getLogger(__name__)

Started = Callable[[str, Mapping[str, int]], None]
"""Is told of each start that ended: the engine, and the seconds of each phase."""

Completed = Callable[[Manifest, Mapping[str, Any], dict[str, Any]], dict[str, Any]]
"""Completes the status of a resource before it is written over the one before: what its devices cost."""

_CORRECTION = "status"


@dataclass(slots=True, kw_only=True)
class StatusWriter:
    """Writes statuses and remembers, by UID, what it wrote last, to detect foreign writes.

    `now` is the clock (UTC), `clock` is monotonic, in seconds. `started` is told of each start that ended. `completed`
    adds what is counted beside the passes.
    """

    cluster: Cluster
    cache: ObjectCache
    now: Callable[[], datetime]
    clock: Callable[[], float] = time.monotonic
    started: Started = lambda *_: None
    completed: Completed = lambda _, __, status: status
    _written: dict[str, bytes] = field(default_factory=dict)
    _corrections: dict[str, Repairs] = field(default_factory=dict)

    def forget(self, uid: str) -> None:
        """Forget a deleted resource."""
        self._written.pop(uid, None)
        self._corrections.pop(uid, None)

    def is_foreign(self, body: Manifest) -> bool:
        """Whether somebody else changed the status since this process wrote it; false before its first write."""
        written = self._written.get(uid_of(body))
        return written is not None and written != _digest(own_part(body.get("status") or {}))

    async def write(self, body: Manifest, status: dict[str, Any]) -> float | None:
        """Write the status if it differs, and an Event for a transition.

        Returns the seconds until the next correction while another writer keeps changing it; None otherwise.
        """
        before, uid = own_part(body.get("status") or {}), uid_of(body)
        status = self.completed(body, before, status)
        known = self._corrections.get(uid)
        if status == before:
            self._written[uid] = _digest(status)
            if known and known.seconds_to_quiet(self.clock()) == 0:
                del self._corrections[uid]
            return None
        is_correction = self.is_foreign(body)
        if is_correction and known and (seconds := known.seconds_to_wait(_CORRECTION, self.clock())) > 0:
            self._hold_back(body, known, seconds)
            return seconds
        await self._write(body, before, status)
        if is_correction:
            self._corrections[uid] = after_write(known, _CORRECTION, self.clock())
        return None

    def _hold_back(self, body: Manifest, known: Repairs, seconds: float) -> None:
        if not known.held_back:
            contested = "another client keeps changing the status"
            log.warning("%s: %s; next correction in %.0f s", ref_of(body), contested, seconds)
            self._corrections[uid_of(body)] = known.waits(contested)

    async def _write(self, body: Manifest, before: Mapping[str, Any], status: dict[str, Any]) -> None:
        metadata, uid = {key: body["metadata"][key] for key in ("namespace", "name", "uid")}, uid_of(body)
        intent = {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": metadata, "status": status}
        before_write, self._written[uid] = self._written.get(uid), _digest(status)  # before the watch event can arrive
        try:
            live = await self.cluster.apply_status(intent, manager=OPERATOR)
        except BaseException:  # rejected, or leadership lost: the live status is not a foreign write
            self._restore(uid, before_write)
            raise
        if live is None:
            return
        self.cache.put(live)
        await self._tell(live, before, status)

    async def _tell(self, live: Manifest, before: Mapping[str, Any], status: Mapping[str, Any]) -> None:
        """What is news in a status that was written."""
        now = self.now()
        if phases := ended_start(before, status):
            self.started(str(live["spec"].get("engine", "")), phases)
        events = (
            startup_event(live, before, status, now),
            transition_event(live, before, status, now + timedelta(microseconds=1)),  # names are made of the time
        )
        for event in filter(None, events):
            await self._record(event)

    def _restore(self, uid: str, digest: bytes | None) -> None:
        if digest is None:
            self._written.pop(uid, None)
        else:
            self._written[uid] = digest

    async def _record(self, event: Manifest) -> None:
        """A failure to write an Event is only logged: the status has the same message."""
        try:
            await self.cluster.record(event)
        except Terminating:
            return
        except OperatorError as error:
            log.warning("%s: event not written: %s", ref_of(event), error)


def _digest(status: Mapping[str, Any]) -> bytes:
    return hashlib.blake2b(orjson.dumps(status, option=orjson.OPT_SORT_KEYS), digest_size=8).digest()
