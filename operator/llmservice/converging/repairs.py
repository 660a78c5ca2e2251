"""Back-off for repairs: a child that another writer changes after every write is repaired less and less often.

The first three foreign edits are reverted at once. Without back-off a persistent writer, such as a webhook or another
operator, would make both sides write the workload, and replace its pods, for ever.
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
    """Consecutive writes of the same `intent` to one object: `count` of them, the last at `at` (monotonic seconds).

    `changed_at_once` is the field in which the response to the last write already differed from it. `held_back` is true
    when another repair is due and waits. `contest` says who reverts them; empty until a repair is held back.
    """

    intent: str
    count: int
    at: float
    changed_at_once: FieldPath | None = None
    held_back: bool = False
    contest: str = ""

    @property
    def pause_seconds(self) -> float:
        """Seconds between the last write and the next."""
        if self.count < _AT_ONCE:
            return 0.0
        return backoff(self.count - _AT_ONCE, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)

    def seconds_to_wait(self, intent: str, now: float) -> float:
        """Seconds until this intent may be written; 0 for a new intent, which is no repair."""
        return 0.0 if self.is_past(intent, now) else max(0.0, self.at + self.pause_seconds - now)

    def is_past(self, intent: str, now: float) -> bool:
        """Whether the count starts anew: for another intent, or after a quiet period."""
        return intent != self.intent or (not self.held_back and self.seconds_to_quiet(now) == 0)

    def seconds_to_quiet(self, now: float) -> float:
        """Seconds until the contest counts as over, without further foreign edits."""
        return max(0.0, self.at + _QUIET_SECONDS - now)

    def waits(self, contest: str) -> "Repairs":
        """The same with a repair held back, and who it is held back for."""
        return replace(self, held_back=True, contest=contest)


def after_write(known: Repairs | None, intent: str, now: float, changed_at_once: FieldPath | None = None) -> Repairs:
    """The state after a write."""
    if known is None or known.is_past(intent, now):
        return Repairs(intent=intent, count=1, at=now, changed_at_once=changed_at_once)
    return replace(known, count=known.count + 1, at=now, changed_at_once=changed_at_once, held_back=False)


def still_known(repairs: Mapping[Ref, Repairs], wanted: Container[Ref], now: float) -> dict[Ref, Repairs]:
    """Those whose quiet period has not passed; an object that is `wanted` to be repaired is not quiet."""
    return {ref: known for ref, known in repairs.items() if ref in wanted or known.seconds_to_quiet(now) > 0}
