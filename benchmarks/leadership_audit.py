"""Who led when, read off the API server's audit log, and whether anybody wrote in another's term. Pure.

A term begins when the API server received a write to the Lease that it then accepted; times are the server's own.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

WRITES = frozenset({"create", "update", "patch", "delete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One accepted write. `began` and `ended` are the server's times (seconds since 1970)."""

    author: str
    began: float
    ended: float
    resource: str

    @property
    def is_lease(self) -> bool:
        """Whether it is about the Lease, not about what the leader works on."""
        return self.resource == "leases"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """From one leader to the next: the last write of the old one, the first of the new one (seconds since 1970)."""

    old: str
    new: str
    last: float
    first: float


def writes_in(lines: Iterable[str], authors: Iterable[str]) -> list[Write]:
    """The accepted writes of these users in the order in which they began."""
    known = set(authors)
    events = (json.loads(line) for line in lines)
    return sorted((_write(event) for event in events if _counts(event, known)), key=lambda write: write.began)


def _counts(event: dict[str, object], authors: set[str]) -> bool:
    user, reference, answer = (event.get(key) or {} for key in ("user", "objectRef", "responseStatus"))
    assert isinstance(user, dict)
    assert isinstance(reference, dict)
    assert isinstance(answer, dict)
    accepted = 200 <= answer.get("code", 500) < 300  # noqa: PLR2004
    return accepted and bool(reference) and event["verb"] in WRITES and user.get("username") in authors


def _write(event: dict[str, object]) -> Write:
    user, reference = event["user"], event["objectRef"]
    assert isinstance(user, dict)
    assert isinstance(reference, dict)
    return Write(
        author=user["username"],
        began=_seconds(event["requestReceivedTimestamp"]),
        ended=_seconds(event["stageTimestamp"]),
        resource=reference["resource"],
    )


def _seconds(text: object) -> float:
    return datetime.fromisoformat(str(text)).timestamp()


def overlaps(writes: Sequence[Write]) -> list[Write]:
    """Writes that had not ended when somebody else's term had begun, or that began before their author's own."""
    terms = [write for write in writes if write.is_lease]
    found = []
    for write in (write for write in writes if not write.is_lease):
        claimed = [term for term in terms if term.began < write.ended]
        if not claimed or claimed[-1].author != write.author:
            found.append(write)
    return found


def handovers(writes: Sequence[Write]) -> list[Handover]:
    """Every change of author among the writes that are not about the Lease."""
    work = [write for write in writes if not write.is_lease]
    return [
        Handover(old=before.author, new=after.author, last=before.ended, first=after.began)
        for before, after in pairwise(work)
        if before.author != after.author
    ]
