"""A whole bench as values, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from llmservice.autoscaling.policy import Objective
from llmservice.bench.figures import PERCENTS, Figures, Spread, figures_of
from llmservice.bench.load import Load
from llmservice.bench.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a load measured on one target. `rows` are the phases that were begun, in their order.

    A level is held where at least `share` of its requests (0-1) are within the objective.
    """

    target: str
    model: str
    load: str
    rows_are: str
    objective: Objective
    planned: int
    rows: tuple[Figures, ...]
    share: float = 0.99
    interrupted: bool = False
    unread: int = 0

    @property
    def ended(self) -> int:
        """Requests that ended, well or not."""
        return sum(row.requests + row.failed for row in self.rows)

    @property
    def failed(self) -> int:
        """Those that ended without a whole answer."""
        return sum(row.failed for row in self.rows)

    @property
    def held(self) -> Figures | None:
        """The highest level that is held, with all below it; None where the lowest is not."""
        found = None
        for row in sorted(self.rows, key=lambda row: row.users):
            if row.attained < self.share:
                break
            found = row
        return found

    @property
    def partial(self) -> bool:
        """Whether less was measured than was planned."""
        return self.interrupted or self.ended < self.planned


def report_of(
    target: str, model: str, load: Load, records: Sequence[Record], objective: Objective, *, interrupted: bool = False
) -> Report:
    """The figures of all phases that have records."""
    by_phase: dict[int, list[Record]] = {}
    for record in records:
        by_phase.setdefault(record.phase, []).append(record)
    rows = tuple(
        figures_of(phase.name, phase.users, phase.requests, by_phase[number], objective)
        for number, phase in enumerate(load.phases)
        if number in by_phase
    )
    return Report(
        target=target,
        model=model,
        load=load.name,
        rows_are=load.rows,
        objective=objective,
        planned=load.requests,
        rows=rows,
        interrupted=interrupted,
    )


def as_json(report: Report) -> dict[str, Any]:
    """Plain values: times in seconds, percentiles by name."""
    head = asdict(replace(report, rows=()))
    del head["rows"]
    held = report.held.name if report.held else None
    return {
        **head,
        "held": held,
        "partial": report.partial,
        "ended": report.ended,
        "rows": [_row(row) for row in report.rows],
    }


def _row(row: Figures) -> dict[str, Any]:
    spreads = {"first": row.first, "between": row.between, "gaps": row.gaps, "whole": row.whole}
    named = {
        "first": "ttft_seconds",
        "between": "inter_token_seconds",
        "gaps": "gap_seconds",
        "whole": "end_to_end_seconds",
    }
    plain = {key: value for key, value in asdict(row).items() if key not in (*spreads, "late")}
    told = {named[key]: spread_as_json(value) for key, value in spreads.items()}
    return {**plain, **told, "generator_late_seconds": row.late, "partial": row.partial}


def spread_as_json(spread: Spread | None) -> dict[str, float] | None:
    """Its mean and percentiles by their names."""
    if spread is None:
        return None
    percentiles = {f"p{percent}": value for percent, value in zip(PERCENTS, spread.percentiles, strict=True)}
    return {"mean": spread.mean, **percentiles}
