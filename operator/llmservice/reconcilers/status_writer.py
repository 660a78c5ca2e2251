"""Writing the status: what nobody but the operator is to say, and the event of a transition."""

import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.conditions import own_part
from llmservice.converging.events import transition_event
from llmservice.converging.repairs import Repairs, after_write
from llmservice.errors import OperatorError, Terminating
from llmservice.objects.names import OPERATOR
from llmservice.objects.references import Manifest, ref_of, uid_of

log = logging.getLogger(__name__)

_CORRECTION = "status"


@dataclass(slots=True, kw_only=True)
class StatusWriter:
    """Writes statuses and knows, by UID, what it said last: a status that says else is somebody else's.

    `now` is the clock (UTC), `clock` gives seconds that never go back.
    """

    cluster: Cluster
    cache: ObjectCache
    now: Callable[[], datetime]
    clock: Callable[[], float] = time.monotonic
    _told: dict[str, bytes] = field(default_factory=dict)
    _corrections: dict[str, Repairs] = field(default_factory=dict)

    def forget(self, uid: str) -> None:
        """Drop what was said of a resource that is gone."""
        self._told.pop(uid, None)
        self._corrections.pop(uid, None)

    def is_foreign(self, body: Manifest) -> bool:
        """Whether the status is not what this process said last; false where it has not said anything."""
        told = self._told.get(uid_of(body))
        return told is not None and told != _digest(own_part(body.get("status") or {}))

    async def write(self, body: Manifest, status: dict[str, Any]) -> float | None:
        """Write the status when it differs, and the event when it is a transition.

        Returns the seconds until another try where somebody else goes on writing it; None otherwise.
        """
        before, uid = own_part(body.get("status") or {}), uid_of(body)
        known = self._corrections.get(uid)
        if status == before:
            self._told[uid] = _digest(status)
            if known and known.seconds_to_calm(self.clock()) == 0:
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
            told = "somebody else writes its status again and again"
            log.warning("%s: %s; not corrected for %.0f s", ref_of(body), told, seconds)
            self._corrections[uid_of(body)] = known.waits(told)

    async def _write(self, body: Manifest, before: Mapping[str, Any], status: dict[str, Any]) -> None:
        metadata, uid = {key: body["metadata"][key] for key in ("namespace", "name", "uid")}, uid_of(body)
        intent = {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": metadata, "status": status}
        told, self._told[uid] = self._told.get(uid), _digest(status)  # before the watch can tell of it
        try:
            live = await self.cluster.apply_status(intent, manager=OPERATOR)
        except BaseException:  # refused, or cut off with the leadership: what stands there is no stranger's doing
            self._restore(uid, told)
            raise
        if live is None:
            return
        self.cache.put(live)
        event = transition_event(live, before, status, self.now())
        if event is not None:
            await self._record(event)

    def _restore(self, uid: str, told: bytes | None) -> None:
        if told is None:
            self._told.pop(uid, None)
        else:
            self._told[uid] = told

    async def _record(self, event: Manifest) -> None:
        """An event that cannot be written is told in the log: the status says the same."""
        try:
            await self.cluster.record(event)
        except Terminating:
            return
        except OperatorError as error:
            log.warning("%s: event not written: %s", ref_of(event), error)


def _digest(status: Mapping[str, Any]) -> bytes:
    return hashlib.blake2b(orjson.dumps(status, option=orjson.OPT_SORT_KEYS), digest_size=8).digest()
