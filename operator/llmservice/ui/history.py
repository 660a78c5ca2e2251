"""What the page has seen of each service since it was opened: replicas over time, and decisions. No I/O."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_MOST_POINTS = 400
"""Of a service: changes only, so hours of an ordinary one."""
_MOST_DECISIONS = 50
Key = tuple[str, str]
_Point = tuple[float, int, int, int | None]


@dataclass(slots=True)
class Track:
    """One service; a successor of the same name, with another UID, begins anew.

    A point is the time, and then the desired, ready and decided replicas, where they changed.
    """

    uid: str = ""
    points: deque[_Point] = field(default_factory=lambda: deque(maxlen=_MOST_POINTS))
    decisions: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_MOST_DECISIONS))

    def note(self, status: Mapping[str, Any], now: float) -> None:
        """Remember what the status says at `now` (seconds since 1970)."""
        scaling = status.get("autoscaling") or {}
        decided = scaling.get("replicas", scaling.get("advisedReplicas"))
        point = (now, int(status.get("desiredReplicas") or 0), int(status.get("readyReplicas") or 0), decided)
        if not self.points or self.points[-1][1:] != point[1:]:
            self.points.append(point)
        decision = {name: str(scaling.get(name, "")) for name in ("decidedAt", "reason", "message")}
        if decision["reason"] and not (self.decisions and _same(self.decisions[-1], decision)):
            self.decisions.append({**decision, "replicas": decided})


@dataclass(slots=True)
class History:
    """Of services by namespace and name."""

    _tracks: dict[Key, Track] = field(default_factory=dict)

    def note(self, services: Iterable[Mapping[str, Any]], now: float) -> None:
        """Remember a list of LLMServices; what is not in it is forgotten."""
        before, self._tracks = self._tracks, {}
        for service in services:
            self._tracks[_key(service)] = _continued(before.get(_key(service)), service)
            self._note(service, now)

    def note_one(self, service: Mapping[str, Any], now: float, *, most: int) -> None:
        """Remember one LLMService, and of others those `most` that were noted last."""
        key = _key(service)
        self._tracks[key] = _continued(self._tracks.pop(key, None), service)
        self._note(service, now)
        while len(self._tracks) > most:
            del self._tracks[next(iter(self._tracks))]

    def of(self, key: Key) -> Track:
        """What is known of a service; empty for one that was in no list."""
        return self._tracks.get(key) or Track()

    def _note(self, service: Mapping[str, Any], now: float) -> None:
        self._tracks[_key(service)].note(service.get("status") or {}, now)


def _continued(known: Track | None, service: Mapping[str, Any]) -> Track:
    uid = str(service["metadata"].get("uid", ""))
    return known if known is not None and known.uid == uid else Track(uid)


def _key(service: Mapping[str, Any]) -> Key:
    return str(service["metadata"].get("namespace", "")), str(service["metadata"]["name"])


def _same(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return bool(before["decidedAt"] == after["decidedAt"] and before["message"] == after["message"])
