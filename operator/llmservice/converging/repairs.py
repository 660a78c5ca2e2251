"""A brake on repairs: a child that somebody else changes after every write is written ever less often.

An edit by hand is taken back at once, and so are the next two. Who goes on, a webhook or another operator, would have
the workload written, and its pods replaced, for ever.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from llmservice.converging.intent import FieldPath
from llmservice.objects.references import Ref
from llmservice.pauses import backoff

_AT_ONCE = 3
_FIRST_PAUSE_SECONDS = 30.0
_LONGEST_PAUSE_SECONDS = 300.0
_QUIET_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """What was written to one object in a row: `count` times the same `intent`, at `at` (monotonic seconds) last.

    `changed_at_once` is where the answer to the last write already differed from it. `held_back` says that another
    write was wanted since. `contest` is who undoes them, in a sentence; empty until the brake acts.
    """

    intent: str
    count: int
    at: float
    changed_at_once: FieldPath | None = None
    held_back: bool = False
    contest: str = ""

    @property
    def pause_seconds(self) -> float:
        """How long the next write waits after the last."""
        if self.count < _AT_ONCE:
            return 0.0
        return backoff(self.count - _AT_ONCE, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)

    def seconds_to_wait(self, intent: str, now: float) -> float:
        """Seconds until this may be written; 0 for another intent, which is news and no repair."""
        return 0.0 if self.is_past(intent, now) else max(0.0, self.at + self.pause_seconds - now)

    def is_past(self, intent: str, now: float) -> bool:
        """Whether what was written says nothing of a write that is wanted now: another intent, or after a calm."""
        return intent != self.intent or (not self.held_back and self.seconds_to_calm(now) == 0)

    def seconds_to_calm(self, now: float) -> float:
        """Seconds until a contest is over, if nobody renews it."""
        return max(0.0, self.at + _QUIET_SECONDS - now)

    def waits(self, contest: str) -> "Repairs":
        """As it is once a write was held back because of somebody who is named now."""
        return replace(self, held_back=True, contest=contest)


def after_write(known: Repairs | None, intent: str, now: float, changed_at_once: FieldPath | None = None) -> Repairs:
    """What is known of an object once it was written."""
    if known is None or known.is_past(intent, now):
        return Repairs(intent=intent, count=1, at=now, changed_at_once=changed_at_once)
    return replace(known, count=known.count + 1, at=now, changed_at_once=changed_at_once, held_back=False)


def still_known(repairs: Mapping[Ref, Repairs], wanted: Container[Ref], now: float) -> dict[Ref, Repairs]:
    """Those of which no calm has made an end; what is `wanted` to be written is not calm."""
    return {ref: known for ref, known in repairs.items() if ref in wanted or known.seconds_to_calm(now) > 0}
