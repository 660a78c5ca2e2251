"""A report as the table that people know: a row per phase, times in milliseconds."""

from collections.abc import Iterable, Iterator, Sequence

from llmservice.bench.figures import Figures, Spread
from llmservice.bench.report import Report
from llmservice.untrusted.tables import table

_LATE_SECONDS = 0.1
_ERRORS_TOLD = 3
_HEADS = (
    "TTFT p50",
    "p90",
    "p99",
    "ITL p50",
    "p99",
    "E2E p50",
    "p99",
    "tok/s",
    "per user",
    "req/s",
    "within",
    "errors",
)

_NEEDED_LEAST = (2, 9, 7, 5, 10)
"""Places of columns that a narrow terminal does without, in this order: p90, per user, p99 of E2E and ITL, rate."""


def as_text(report: Report, *, width: int = 0) -> str:
    """Title, table, and what has to be known to read it. Columns give way to `width`, that of a terminal; 0: any."""
    if not report.rows:
        return "\n".join([*_title(report), "", "Nothing was measured: no request had ended."])
    return "\n".join([*_title(report), "", *_table(report, width), "", *_remarks(report)]).rstrip()


def figures_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of equal columns: the first to the left, the others to the right."""
    return table([heads, *rows], right=range(1, len(heads)))


def milliseconds(seconds: float) -> str:
    """As many digits as tell something: 3 up to a thousand, all of them above."""
    value = seconds * 1e3
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004


def _title(report: Report) -> Iterator[str]:
    yield f"{report.target}: {report.load}, {report.ended} of {report.planned} requests"
    if report.partial:
        yield "PARTIAL: it was stopped before its end; figures are of what had ended by then"


def _table(report: Report, width: int) -> list[str]:
    """Whole, or without the columns that are needed least until it fits."""
    rows = [(report.rows_are, *_HEADS), *map(_row, report.rows)]
    left_out = list[int]()
    while True:
        kept = [[cell for place, cell in enumerate(row) if place not in left_out] for row in rows]
        lines = figures_table(kept[0], kept[1:])
        if not 0 < width < max(map(len, lines)) or len(left_out) == len(_NEEDED_LEAST):
            break
        left_out.append(_NEEDED_LEAST[len(left_out)])
    return (
        [*lines, "Some columns are left out here: -o json has all, and so has a wider window."] if left_out else lines
    )


def _row(row: Figures) -> tuple[str, ...]:
    return (
        row.name,
        *_times(row.first, 0, 1, 2),
        *_times(row.between, 0, 2),
        *_times(row.whole, 0, 2),
        f"{row.tokens_per_second:.1f}",
        f"{row.tokens_per_second_per_user:.1f}",
        f"{row.requests_per_second:.2f}",
        f"{row.attained:.0%}",
        str(row.failed),
    )


def _times(spread: Spread | None, *places: int) -> Iterator[str]:
    return (milliseconds(spread.percentiles[place]) if spread else "-" for place in places)


def _remarks(report: Report) -> Iterator[str]:
    objective = report.objective
    yield (
        "Milliseconds. TTFT: to the first token; ITL: per further token, mean of each request; E2E: to the last token. "
        f"Within: first token in {objective.ttft_seconds:g} s and {objective.tpot_seconds * 1e3:g} ms per further one."
    )
    yield from _held(report)
    answered = [row for row in report.rows if row.requests]
    if answered:
        prompt, answer = _mean(answered, "prompt_tokens"), _mean(answered, "answer_tokens")
        yield f"Requests of {prompt:.0f} tokens on average, answers of {answer:.0f}, by the server's own count."
    late = max((row.late for row in report.rows), default=0.0)
    if late > _LATE_SECONDS:
        yield (
            f"The load generator was up to {late:.1f} s late with 1 % of the requests: this machine is too busy or too "
            "small for such a load; run it elsewhere before you trust the figures."
        )
    errors: dict[str, int] = {}
    for row in report.rows:
        for text, count in row.errors.items():
            errors[text] = errors.get(text, 0) + count
    for text, count in sorted(errors.items(), key=lambda item: -item[1])[:_ERRORS_TOLD]:
        yield f"{count} x {text}"


def _held(report: Report) -> Iterator[str]:
    """How many at once, or how often, it serves within the objective: of levels alone."""
    if report.rows_are not in {"at once", "interval"} or len(report.rows) == 1:
        return
    wanted = f"{report.share * 100:g} % of requests within"
    if report.held is None:
        yield f"No level held: none has {wanted}."
    elif report.held.users == max(row.users for row in report.rows):
        yield f"Held up to {report.rows_are} {report.held.name}, the highest level of this load, with {wanted}."
    else:
        yield f"Held up to {report.rows_are} {report.held.name}, with {wanted}."


def _mean(rows: Sequence[Figures], name: str) -> float:
    """Over all requests."""
    return float(sum(getattr(row, name) * row.requests for row in rows) / sum(row.requests for row in rows))
