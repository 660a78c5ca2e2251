"""Two reports on the same load, side by side: which is better at what, by how much, and whether that is noise.

Every phase is measured once, so noise is estimated from the requests of it: the two medians of independent resamples
(bootstrap, 200 with a fixed seed) have to be apart in 95 % of them, and by 3 % at least.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from llmservice.bench.figures import percentile
from llmservice.bench.records import Record
from llmservice.bench.report import Report
from llmservice.bench.text import figures_table, milliseconds

_RESAMPLES = 200
_MOST_SAMPLES = 400
_LEAST_DIFFERENCE = 0.03
_LEAST_SAMPLES = 5

_Value = Callable[[Record], float]
_QUANTITIES: Mapping[str, _Value] = {
    "time to first token": lambda record: record.first,
    "time per further token": lambda record: record.per_token,
    "end to end": lambda record: record.seconds,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """On one quantity: medians (seconds) of both over all phases that both have, and which is better, if any.

    `winner` is 0 or 1; None where the difference may be chance or is a trifle. `ratio` is the worse by the better.
    """

    quantity: str
    medians: tuple[float, float]
    ratio: float
    winner: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Verdicts on latency, output tokens per second of each phase in both, and requests that failed."""

    names: tuple[str, str]
    verdicts: tuple[Verdict, ...]
    phases: tuple[str, ...]
    tokens_per_second: tuple[tuple[float, float], ...]
    failed: tuple[int, int]


def compared(
    reports: tuple[Report, Report], records: tuple[Sequence[Record], Sequence[Record]], names: tuple[str, str]
) -> Comparison:
    """Both on the phases that both have; a phase that one of them lacks says nothing."""
    done = tuple([record for record in each if not record.error] for each in records)
    shared = {record.phase for record in done[0]} & {record.phase for record in done[1]}
    first, second = ([record for record in each if record.phase in shared] for each in done)
    rows = [{row.name: row for row in report.rows if row.requests} for report in reports]
    phases = tuple(name for name in rows[0] if name in rows[1])
    return Comparison(
        names=names,
        verdicts=tuple(_verdict(name, value, first, second) for name, value in _QUANTITIES.items() if shared),
        phases=phases,
        tokens_per_second=tuple((rows[0][name].tokens_per_second, rows[1][name].tokens_per_second) for name in phases),
        failed=(reports[0].failed, reports[1].failed),
    )


def as_text(comparison: Comparison) -> str:
    """The table side by side, then the decision."""
    return "\n".join([*_table(comparison), "", decision(comparison)])


def decision(comparison: Comparison) -> str:
    """One line: who is better at what, and by how much."""
    names, found = comparison.names, list(_differences(comparison))
    if not comparison.verdicts:
        return "Decision: none, no phase was answered by both"
    if not found:
        return f"Decision: no difference that is more than noise between {names[0]} and {names[1]} on this load"
    won = [[what for winner, what in found if winner == place] for place in (0, 1)]
    parts = [f"{name} is better: {', '.join(theirs)}" for name, theirs in zip(names, won, strict=True) if theirs]
    even = [each.quantity for each in comparison.verdicts if each.winner is None]
    if even:
        parts.append(f"within noise: {', '.join(even)}")
    if comparison.failed[0] != comparison.failed[1]:
        parts.append(f"failed requests: {comparison.failed[0]} and {comparison.failed[1]}")
    return f"Decision: {'; '.join(parts)}"


def _differences(comparison: Comparison) -> Iterator[tuple[int, str]]:
    """Who wins, and at what by how much."""
    for verdict in comparison.verdicts:
        if verdict.winner is not None:
            yield verdict.winner, f"{verdict.quantity} {1 - 1 / verdict.ratio:.0%} shorter"
    best = [max(column) for column in zip(*comparison.tokens_per_second, strict=True)]
    if best and min(best) and max(best) / min(best) > 1 + _LEAST_DIFFERENCE:
        yield best.index(max(best)), f"tokens per second at best {max(best) / min(best) - 1:.0%} more"


def _table(comparison: Comparison) -> list[str]:
    rows = [
        (
            f"{verdict.quantity}, median ms",
            *(milliseconds(median) for median in verdict.medians),
            f"{(verdict.ratio - 1):.0%}",
            "noise" if verdict.winner is None else comparison.names[verdict.winner],
        )
        for verdict in comparison.verdicts
    ]
    for name, (left, right) in zip(comparison.phases, comparison.tokens_per_second, strict=True):
        apart = max(left, right) / max(1e-9, min(left, right))
        better = comparison.names[left < right] if apart > 1 + _LEAST_DIFFERENCE else "even"
        rows.append((f"tokens/s at {name}", f"{left:.1f}", f"{right:.1f}", f"{(apart - 1):.0%}", better))
    return figures_table(("quantity", *comparison.names, "apart", "better"), rows)


def _verdict(quantity: str, value: _Value, first: Sequence[Record], second: Sequence[Record]) -> Verdict:
    left, right = ([value(record) for record in each] for each in (first, second))
    medians = (_median(left), _median(right))
    ratio = max(medians) / max(1e-9, min(medians))
    apart = ratio > 1 + _LEAST_DIFFERENCE and _is_no_chance(left, right)
    return Verdict(
        quantity=quantity, medians=medians, ratio=ratio, winner=medians.index(min(medians)) if apart else None
    )


def _is_no_chance(left: Sequence[float], right: Sequence[float]) -> bool:
    """Whether the medians of resamples fall on the same side 95 times of 100."""
    if min(len(left), len(right)) < _LEAST_SAMPLES:
        return False
    chance = random.Random(0)  # noqa: S311  (the same records are judged the same again)
    sizes = min(len(left), _MOST_SAMPLES), min(len(right), _MOST_SAMPLES)
    below = sum(
        _median(chance.choices(left, k=sizes[0])) < _median(chance.choices(right, k=sizes[1]))
        for _ in range(_RESAMPLES)
    )
    return not 0.05 * _RESAMPLES < below < 0.95 * _RESAMPLES


def _median(values: Sequence[float]) -> float:
    return percentile(sorted(values), 50)
