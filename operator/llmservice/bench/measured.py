"""An engine profile from a bench: how long an iteration takes, seen from outside.

The simulator's engine works in iterations over n tokens: n requests that get a token each, or the n tokens of a prompt.

- n up to the requests at once: the mean time per token of each request, against the requests that got tokens beside it,
  without the time in which prompts of others were read.
- n = a prompt's length: the time to first token of requests that found the engine idle. The way to the server is in it.

Medians by level, made never to fall (pool-adjacent-violators). KV-cache reads are within, at the contexts of this load:
a load with much longer ones is predicted too fast.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llmservice.bench.figures import percentile
from llmservice.bench.records import Record
from llmservice.bench.report import Report
from llmservice.errors import InvalidInput

_LEAST_REQUESTS = 20
_LEAST_STEP_SECONDS = 1e-5
_FAST_PERCENT = 10
_LENGTH_CLASSES = 1.25
_WIDE = 2


def profile_of(report: Report, records: Sequence[Record], *, slots: int | None, replicas: int) -> dict[str, Any]:
    """The profile of one replica as plain values; `slots` of all replicas, None to take what was seen.

    The size of the KV cache is not seen from outside and left out: who reads it takes the cache as never full. Raises
    InvalidInput where too little was answered.
    """
    done = sorted((record for record in records if not record.error), key=lambda record: record.at)
    if len(done) < _LEAST_REQUESTS:
        raise InvalidInput(
            "TooLittleForProfile",
            f"{len(done)} answered requests say too little of an engine: a profile needs {_LEAST_REQUESTS}, at several "
            "levels of load, such as --scenario sweep-1-9",
        )
    beside = _beside(done)
    reading = _reading_seconds(done)
    decoding = _decoding_seconds(done, beside, reading, replicas)
    seen = max(decoding)
    points = _never_falling({**decoding, **{tokens: at for tokens, at in reading.items() if tokens > seen}})
    return {
        "name": report.target,
        "description": f"{report.target}, measured by {report.load}",
        "requests": len(done),
        "step_milliseconds": [[tokens, round(seconds * 1e3, 4)] for tokens, seconds in points.items()],
        "max_sequences": max(1, round((slots or seen * replicas) / replicas)),
        "autoscaling": {"profile": capacity(report, replicas)},
    }


def capacity(report: Report, replicas: int) -> list[dict[str, int]]:
    """For `spec.autoscaling.profile`: prompt and answer tokens a second of one replica at each level, and its pace."""
    points = dict[int, int]()
    for row in report.rows:
        if row.between and row.between.mean > 0:
            tokens = (row.prompt_tokens + row.answer_tokens) * row.requests_per_second / replicas
            points[max(1, round(tokens))] = max(1, round(row.between.mean * 1e6))
    return [
        {"tokensPerSecond": tokens, "timePerOutputTokenMicroseconds": pace} for tokens, pace in sorted(points.items())
    ]


def narrow(records: Sequence[Record]) -> bool:
    """Whether prompts were so alike that a profile says little of others: the longest is not twice the shortest."""
    lengths = [record.prompt_tokens for record in records if not record.error]
    return bool(lengths) and max(lengths) < _WIDE * min(lengths)


def _beside(done: Sequence[Record]) -> list[float]:
    """For each record the mean number of requests that got tokens while it did, itself included."""
    spans = [(record.at + record.first, record.at + record.seconds) for record in done]
    starts, ends = sorted(start for start, _ in spans), sorted(end for _, end in spans)
    before_start, before_end = _sums(starts), _sums(ends)
    means = list[float]()
    for start, end in spans:
        width = max(end - start, 1e-9)
        # Integral over the span of (begun by then) - (ended by then).
        begun = _integral(starts, before_start, end) - _integral(starts, before_start, start)
        ended = _integral(ends, before_end, end) - _integral(ends, before_end, start)
        means.append(max(1.0, (begun - ended) / width))
    return means


def _sums(ordered: Sequence[float]) -> list[float]:
    sums = [0.0]
    for value in ordered:
        sums.append(sums[-1] + value)
    return sums


def _integral(ordered: Sequence[float], sums: Sequence[float], until: float) -> float:
    """Of the number of values that are not above t, for t up to `until`."""
    count = bisect_right(ordered, until)
    return count * until - sums[count]


def _reading_seconds(done: Sequence[Record]) -> dict[int, float]:
    """Seconds to the first token by prompt length (classes a quarter apart), of an idle engine."""
    classes = defaultdict[int, list[Record]](list)
    for record in _alone(done):
        level = 1
        while level * _LENGTH_CLASSES < record.prompt_tokens:
            level = max(level + 1, int(level * _LENGTH_CLASSES))
        classes[level].append(record)
    return {
        round(_median(record.prompt_tokens for record in group)): _median(record.first for record in group)
        for group in classes.values()
    }


def _alone(done: Sequence[Record]) -> list[Record]:
    """Requests that no other was under way with until their first token; where there are none, the fastest to it."""
    found, busy_until = list[Record](), 0.0
    for record, after in zip(done, [*done[1:], None], strict=True):
        if record.at >= busy_until and (after is None or after.at >= record.at + record.first):
            found.append(record)
        busy_until = max(busy_until, record.at + record.seconds)
    if found[1:]:
        return found[1:]  # the very first may have met a cold engine
    limit = percentile(sorted(record.first for record in done), _FAST_PERCENT)
    return [record for record in done if record.first <= limit]


def _decoding_seconds(
    done: Sequence[Record], beside: Sequence[float], reading: Mapping[int, float], replicas: int
) -> dict[int, float]:
    """Seconds of a step by how many requests get a token in it, on one replica."""
    firsts = sorted(record.at + record.first for record in done)
    typical = _median(reading.values())
    levels = defaultdict[int, list[float]](list)
    for record, count in zip(done, beside, strict=True):
        if record.answer_tokens > 1:
            start, end = record.at + record.first, record.at + record.seconds
            read = (bisect_left(firsts, end) - bisect_right(firsts, start)) / replicas
            excess = read * max(0.0, typical - record.per_token)
            seconds = max(record.per_token / 4, (end - start - excess) / (record.answer_tokens - 1))
            levels[max(1, round(count / replicas))].append(max(_LEAST_STEP_SECONDS, seconds))
    if not levels:
        raise InvalidInput("TooLittleForProfile", "every answer was a single token: ask for longer ones")
    return {level: _median(values) for level, values in sorted(levels.items())}


def _never_falling(points: Mapping[int, float]) -> dict[int, float]:
    """The nearest step function that does not fall, as the weighted mean of neighbours that do."""
    pools = list[tuple[list[int], float]]()
    for level, value in sorted(points.items()):
        pools.append(([level], value))
        while len(pools) > 1 and pools[-2][1] > pools[-1][1]:
            (later, high), (earlier, low) = pools.pop(), pools.pop()
            mean = (high * len(later) + low * len(earlier)) / (len(later) + len(earlier))
            pools.append((earlier + later, mean))
    return {level: value for levels, value in pools for level in levels}


def _median(values: Iterable[float]) -> float:
    return percentile(sorted(values), 50)
