"""Counters read twice → what happened in between, with resets and nonsense recognised.

A counter that fell was reset (the engine started again): nothing is known of that interval. What a reading lacks stays
unknown; absent is never zero.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from llmservice.autoscaling.policy import Objective
from llmservice.autoscaling.snapshot import LARGEST_READING, Flow

_LARGEST_RATE = 1e9
"""Tokens, requests or steps a second that no replica comes near; an interval with more says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """A cumulative histogram: `counts[i]` observations were at most `bounds[i]`; `count` in all, adding up to `total`.

    `bounds` are finite and rise; empty where only count and sum are known.
    """

    count: float
    total: float
    bounds: Sequence[float] = ()
    counts: Sequence[float] = ()

    def above(self, threshold: float) -> float | None:
        """Observations over the threshold, even within a bucket (as Prometheus' histogram_quantile has it).

        None without buckets. Beyond the last bound nothing is resolved: all that lies there counts as above.
        """
        if not self.bounds:
            return None
        upper = bisect_right(self.bounds, threshold)
        below = self.counts[upper - 1] if upper else 0.0
        if upper == len(self.bounds):
            return self.count - below
        start = self.bounds[upper - 1] if upper else 0.0
        share = (threshold - start) / (self.bounds[upper] - start)
        return self.count - below - share * (self.counts[upper] - below)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What one replica reports at one moment: gauges `running`, `waiting`, the rest cumulative since its start.

    `finished` is None where the engine does not count them (llama.cpp). `prompt_tokens` are those computed, so without
    prefix-cache hits. `rejected` requests were refused for lack of room. `finished_prompt_tokens` and
    `finished_generated_tokens` are the sizes of finished requests, added up.
    """

    at: float
    running: float
    waiting: float
    prompt_tokens: float
    generated_tokens: float
    finished: float | None
    rejected: float = 0.0
    finished_prompt_tokens: float | None = None
    finished_generated_tokens: float | None = None
    ttft: Histogram | None = None
    """Seconds until the first token, per request."""
    tpot: Histogram | None = None
    """Seconds per output token, per finished request."""
    inter_token_latency: Histogram | None = None
    """Seconds between two tokens; count and sum are enough."""
    steps: float | None = None
    """Steps computed."""
    preemptions: float | None = None
    """Running requests put back into the queue."""

    @property
    def all_told(self) -> float:
        """The sum of what only requests move: as long as it stays, none was worked on or refused."""
        return (self.finished or 0.0) + self.rejected + self.prompt_tokens + self.generated_tokens

    @classmethod
    def at_start(cls, like: "Counters", at: float) -> "Counters":
        """The counters of a replica that has done nothing yet, with the metrics `like` has."""
        return cls(
            at=at,
            running=0.0,
            waiting=0.0,
            prompt_tokens=0.0,
            generated_tokens=0.0,
            finished=None if like.finished is None else 0.0,
            finished_prompt_tokens=None if like.finished_prompt_tokens is None else 0.0,
            finished_generated_tokens=None if like.finished_generated_tokens is None else 0.0,
            ttft=_emptied(like.ttft),
            tpot=_emptied(like.tpot),
            inter_token_latency=_emptied(like.inter_token_latency),
        )


def plausible(value: float | None) -> float | None:
    """A reading that can be meant: not negative, and no more than any engine counts; otherwise as good as absent."""
    return value if value is not None and 0.0 <= value <= LARGEST_READING else None


def flow_between(before: Counters, after: Counters, objective: Objective) -> Flow | None:
    """What happened between two readings of one replica; None after a reset, without time in between, or beyond belief.

    Where finished requests are not counted, arrivals cannot be known: then the intervals between tokens stay unknown
    too, because a capacity without a demand to hold against it decides nothing.
    """
    seconds = after.at - before.at
    if seconds <= 0 or _was_reset(before, after) or _is_beyond_belief(before, after, seconds):
        return None
    finished = _growth(before.finished, after.finished)
    held = after.running + after.waiting - before.running - before.waiting
    return Flow(
        seconds=seconds,
        prompt_tokens=after.prompt_tokens - before.prompt_tokens,
        generated_tokens=after.generated_tokens - before.generated_tokens,
        finished=finished or 0.0,
        arrived=None if finished is None else finished + after.rejected - before.rejected + held,
        first_tokens=_growth(_count(before.ttft), _count(after.ttft)),
        ttft_violations=_growth(*(_above(c.ttft, objective.ttft_seconds) for c in (before, after))),
        tpot_violations=_growth(*(_above(c.tpot, objective.tpot_seconds) for c in (before, after))),
        inter_token_count=None
        if finished is None
        else _growth(_count(before.inter_token_latency), _count(after.inter_token_latency)),
        inter_token_seconds=_growth(_total(before.inter_token_latency), _total(after.inter_token_latency)),
        finished_prompt_tokens=_growth(before.finished_prompt_tokens, after.finished_prompt_tokens),
        finished_generated_tokens=_growth(before.finished_generated_tokens, after.finished_generated_tokens),
    )


def _was_reset(before: Counters, after: Counters) -> bool:
    return (
        after.prompt_tokens < before.prompt_tokens
        or after.generated_tokens < before.generated_tokens
        or (after.finished or 0.0) < (before.finished or 0.0)
        or after.rejected < before.rejected
        or any(
            old is not None and new is not None and new.count < old.count
            for old, new in (
                (before.ttft, after.ttft),
                (before.tpot, after.tpot),
                (before.inter_token_latency, after.inter_token_latency),
            )
        )
    )


def _is_beyond_belief(before: Counters, after: Counters, seconds: float) -> bool:
    """Whether it did more than any replica can: what a hostile page counts must not end in infinite numbers."""
    most = _LARGEST_RATE * seconds
    steps, took = (_growth(get(before.inter_token_latency), get(after.inter_token_latency)) for get in (_count, _total))
    return (
        after.prompt_tokens - before.prompt_tokens > most
        or after.generated_tokens - before.generated_tokens > most
        or (_growth(before.finished, after.finished) or 0.0) > most
        or after.rejected - before.rejected > most
        or after.running + after.waiting > most
        or 0.0 < _LARGEST_RATE * (took or 0.0) < (steps or 0.0)
    )


def _growth(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else max(0.0, after - before)


def _count(histogram: Histogram | None) -> float | None:
    return None if histogram is None else histogram.count


def _total(histogram: Histogram | None) -> float | None:
    return None if histogram is None else histogram.total


def _above(histogram: Histogram | None, threshold: float) -> float | None:
    return None if histogram is None else histogram.above(threshold)


def _emptied(histogram: Histogram | None) -> Histogram | None:
    if histogram is None:
        return None
    return Histogram(count=0.0, total=0.0, bounds=histogram.bounds, counts=(0.0,) * len(histogram.bounds))
