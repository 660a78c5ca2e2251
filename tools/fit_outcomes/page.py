"""The page docs/reference/fit-outcomes.md: what was predicted, and what came of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from llmservice.planning.fit.verdict import Outcome
from tools.fit_outcomes.judging import Judged, judged
from tools.fit_outcomes.reading import Result, Starts

_HEAD = """\
# Public starts against the fit check

Written by `make docs` from `tests/outcomes/outcomes.yaml`: starts of engines that people reported in public, each with
its source, run through the check that decides before a GPU is taken. The facts of the models are those of the catalogue
or stand in that file, and so does what a source leaves open. None of them was run for this page, and many are of
versions older than those in the catalogue of engines: what an engine takes beside weights and cache has changed since.

What the check must never do is to refuse what runs: `tests/outcomes` fails for every start that it refuses.

"""
_OUTCOMES = (Outcome.FITS, Outcome.TIGHT, Outcome.DOES_NOT_FIT, Outcome.UNKNOWN)


def fit_outcomes_page(starts: Starts) -> str:
    """The page as Markdown."""
    every = [judged(start, starts) for start in starts.starts]
    parts = (_totals(every), _accepted(every), _cache(every), _requests(every), _all(every))
    return _HEAD + "\n".join("\n".join(part) + "\n" for part in parts)


def _totals(every: Sequence[Judged]) -> Iterator[str]:
    refused = sum(each.falsely_refused for each in every)
    accepted = sum(each.falsely_accepted for each in every)
    failed = sum(each.start.failed for each in every)
    yield f"{len(every)} starts, {failed} of which failed for want of memory: **{refused} false refusals**,"
    yield f"{accepted} false acceptances ({_share(accepted, failed)} of the failures)."
    yield ""
    yield from _table(("what came of it", *_OUTCOMES), _counted(every))


def _counted(every: Iterable[Judged]) -> Iterator[tuple[object, ...]]:
    counts = Counter((each.start.result, each.verdict.outcome) for each in every)
    for result in Result:
        yield (result, *(counts[result, outcome] for outcome in _OUTCOMES))


def _accepted(every: Iterable[Judged]) -> Iterator[str]:
    yield "## False acceptances"
    yield ""
    yield "Failures that the check lets pass without a warning."
    yield ""
    rows = ((_link(each), each.start.result, each.start.note) for each in every if each.falsely_accepted)
    yield from _table(("start", "what came of it", "why"), rows)


def _cache(every: Iterable[Judged]) -> Iterator[str]:
    known = [
        (each, *each.predicted_gib, each.reported_gib)
        for each in every
        if each.predicted_gib is not None and each.reported_gib is not None
    ]
    errors = [careful - seen for _, careful, _, seen in known]
    yield "## KV cache, GiB of one device"
    yield ""
    yield f"Of {len(known)} starts the engine's own figure is known. The careful estimate is off by {_spread(errors)}."
    yield ""
    rows = (
        (_link(each), f"{careful:.2f}", f"{optimistic:.2f}", f"{seen:.2f}", f"{careful - seen:+.2f}")
        for each, careful, optimistic, seen in known
    )
    yield from _table(("start", "careful", "optimistic", "reported", "careful - reported"), rows)


def _requests(every: Iterable[Judged]) -> Iterator[str]:
    known = [(each, seen) for each in every if (seen := each.reported_requests)]
    errors = [100 * (each.verdict.full_length_requests / seen - 1) for each, seen in known]
    yield "## Full-length requests at once"
    yield ""
    yield f"Of {len(known)} starts: off by {_spread(errors, '%')}."
    yield ""
    rows = (
        (_link(each), f"{each.verdict.full_length_requests:.2f}", f"{seen:.2f}", f"{error:+.0f} %")
        for (each, seen), error in zip(known, errors, strict=True)
    )
    yield from _table(("start", "predicted", "reported", "error"), rows)


def _all(every: Iterable[Judged]) -> Iterator[str]:
    yield "## Every start"
    yield ""
    yield from _table(
        ("start", "engine", "devices", "model", "tokens", "what came of it", "check"),
        (
            (
                _link(each),
                f"{each.start.engine} {each.start.version}".strip(),
                f"{each.start.count} x {each.start.gpu}",
                each.start.model,
                each.verdict.setup.max_model_len,
                each.start.result,
                each.verdict.outcome,
            )
            for each in every
        ),
    )


def _link(each: Judged) -> str:
    return f"[{each.start.id}]({each.start.source})"


def _spread(errors: Sequence[float], unit: str = "GiB") -> str:
    if not errors:
        return "nothing"
    digits = 0 if unit == "%" else 2
    middle = median(abs(error) for error in errors)
    worst = max(errors, key=abs)
    return f"{middle:.{digits}f} {unit} (median of the absolute errors), at worst {worst:+.{digits}f} {unit}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield _row(head)
    yield "|" + "---|" * len(head)
    yield from (_row(row) for row in rows)


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
