"""Records of a phase as figures: percentiles of latency, throughput, errors; and the same over time."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from llmservice.autoscaling.policy import Objective
from llmservice.bench.records import Record

PERCENTS = (50, 90, 99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A quantity over many requests, in seconds."""

    mean: float
    percentiles: tuple[float, ...]
    """Of `PERCENTS`, in their order."""

    @property
    def median(self) -> float:
        """Of all."""
        return self.percentiles[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A slice of a phase: seconds since its beginning, what ended in it, medians (None where nothing ended)."""

    at: float
    requests: int
    errors: int
    tokens_per_second: float
    first: float | None
    between: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Of one phase. `planned` are the requests it was to send; `requests` those that were answered.

    Latencies are None where none was answered: `first` token, `between` tokens (the mean of each request), `gaps`
    (each time between two parts of a stream), the `whole` request. `attained` is the share within the objective of all
    that ended, 0-1; `late` how late the generator was with 1 % of them.
    """

    name: str
    users: float
    planned: int
    requests: int
    errors: dict[str, int]
    seconds: float
    first: Spread | None
    between: Spread | None
    gaps: Spread | None
    whole: Spread | None
    tokens_per_second: float
    tokens_per_second_per_user: float
    requests_per_second: float
    prompt_tokens: float
    answer_tokens: float
    attained: float
    late: float
    moments: tuple[Moment, ...]

    @property
    def failed(self) -> int:
        """Requests that ended without a whole answer."""
        return sum(self.errors.values())

    @property
    def partial(self) -> bool:
        """Whether fewer ended than were planned."""
        return self.requests + self.failed < self.planned


def figures_of(
    name: str, users: float, planned: int, records: Sequence[Record], objective: Objective, *, slices: int = 40
) -> Figures:
    """The figures of a phase; from its first request sent to its last token."""
    done = [record for record in records if not record.error]
    start = min((record.at for record in records), default=0.0)
    end = max((record.at + record.seconds for record in records), default=start)
    seconds = max(end - start, 1e-9)
    tokens, count = sum(record.answer_tokens for record in done), max(1, len(done))
    return Figures(
        name=name,
        users=users,
        planned=planned,
        requests=len(done),
        errors=dict(Counter(record.error for record in records if record.error).most_common(20)),
        seconds=seconds,
        first=spread(record.first for record in done),
        between=spread(record.per_token for record in done if record.answer_tokens > 1),
        gaps=spread(gap for record in done for gap in record.gaps),
        whole=spread(record.seconds for record in done),
        tokens_per_second=tokens / seconds,
        tokens_per_second_per_user=_mean(record.answer_tokens / max(record.seconds, 1e-9) for record in done),
        requests_per_second=len(done) / seconds,
        prompt_tokens=sum(record.prompt_tokens for record in done) / count,
        answer_tokens=tokens / count,
        attained=sum(_is_within(record, objective) for record in done) / max(1, len(records)),
        late=percentile(sorted(record.late for record in records), 99) if records else 0.0,
        moments=_over_time(records, start, seconds, slices),
    )


def spread(values: Iterable[float]) -> Spread | None:
    """None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    return Spread(
        mean=math.fsum(ordered) / len(ordered),
        percentiles=tuple(percentile(ordered, percent) for percent in PERCENTS),
    )


def percentile(ordered: Sequence[float], percent: float) -> float:
    """By linear interpolation between the nearest two, as numpy and AIPerf do it."""
    place = (len(ordered) - 1) * percent / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _is_within(record: Record, objective: Objective) -> bool:
    return record.first <= objective.ttft_seconds and record.per_token <= objective.tpot_seconds


def _over_time(records: Sequence[Record], start: float, seconds: float, slices: int) -> tuple[Moment, ...]:
    """At most so many slices, none shorter than a second."""
    width = max(1.0, seconds / slices)
    ended, last = dict[int, list[Record]](), math.ceil(seconds / width) - 1
    for record in records:
        ended.setdefault(min(last, int((record.at + record.seconds - start) / width)), []).append(record)
    return tuple(_moment(number * width, width, ended.get(number, [])) for number in range(last + 1))


def _moment(at: float, width: float, records: Sequence[Record]) -> Moment:
    done = [record for record in records if not record.error]
    first, between = spread(record.first for record in done), spread(record.per_token for record in done)
    return Moment(
        at=at,
        requests=len(done),
        errors=len(records) - len(done),
        tokens_per_second=sum(record.answer_tokens for record in done) / width,
        first=first.median if first else None,
        between=between.median if between else None,
    )


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else 0.0
