"""Recording rules that give the engines' figures one name each, whichever engine and version they come from.

The engines' own names stand in the catalogue and in the folders of the engines: a new version changes no panel. Pods
are told apart first, so that in a rollout each counts under the name that its own version has.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from llmservice.catalog.metrics import Series
from tools.dashboard.measured import Source, series_of, sources
from tools.dashboard.rule import Rule, group

_OF_SERVICE = "namespace, name"
_OF_POD = f"{_OF_SERVICE}, pod"
WINDOW = "5m"
"""What rates are taken over: twenty scrapes of the PodMonitor, which reads every 15 seconds."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A quantity of engines: the role in the catalogue, the name that it is recorded under, and what it means.

    A histogram has `_bucket`, `_sum` and `_count` before the colon of its name; `parts` are those that are recorded.
    """

    role: str
    record: str
    kind: Literal["gauge", "ratio", "counter", "histogram"]
    meaning: str
    parts: tuple[str, ...] = ("bucket", "sum", "count")


FIGURES = (
    Figure("running", "llmservice:requests_running", "gauge", "requests that are worked on, by replica"),
    Figure("waiting", "llmservice:requests_waiting", "gauge", "requests that wait in the engine, by replica"),
    Figure("kv_use", "llmservice:kv_cache_usage", "ratio", "share of the KV cache in use, by replica"),
    Figure("prompt_tokens", "llmservice:prompt_tokens:rate5m", "counter", "prompt tokens a second"),
    Figure("generated_tokens", "llmservice:generated_tokens:rate5m", "counter", "generated tokens a second"),
    Figure("finished", "llmservice:requests_finished:rate5m", "counter", "requests that end, a second"),
    Figure(
        "rejected", "llmservice:requests_rejected:rate5m", "counter", "requests rejected for lack of room, a second"
    ),
    Figure(
        "preemptions", "llmservice:preemptions:rate5m", "counter", "running requests put back into the queue, a second"
    ),
    Figure("ttft", "llmservice:ttft_seconds:rate5m", "histogram", "seconds until the first token"),
    Figure("tpot", "llmservice:tpot_seconds:rate5m", "histogram", "seconds per further token, mean of each request"),
    Figure(
        *("inter_token_latency", "llmservice:inter_token_seconds:rate5m", "histogram", "seconds between two tokens"),
        parts=("sum", "count"),
    ),
)


def engine_groups() -> list[dict[str, Any]]:
    """A group of rules for each engine, and one for those behind a proxy."""
    return [group(f"llmservice-{engine}", _rules(engine, source)) for engine, source in sources().items()]


def part_of(record: str, part: str) -> str:
    """The name of a histogram's part: `a:b_seconds:rate5m` → `a:b_seconds_bucket:rate5m`."""
    name, _, operation = record.rpartition(":")
    return f"{name}_{part}:{operation}"


def _rules(engine: str, source: Source) -> Iterator[Rule]:
    for figure in FIGURES:
        if series := [Series.parse(written) for written in series_of(source, figure.role)]:
            for record, expr in _recorded(figure, series):
                yield Rule(record, expr, {"engine": engine})


def _recorded(figure: Figure, series: list[Series]) -> Iterator[tuple[str, str]]:
    if figure.kind in {"gauge", "ratio"}:
        how = "avg" if figure.kind == "ratio" else "sum"
        yield figure.record, _first(how, _OF_POD, [[_selector(part) for part in each.addends] for each in series])
    elif figure.kind == "counter":
        rates = [[_rate(_selector(part)) for part in each.addends] for each in series]
        yield figure.record, f"sum by ({_OF_SERVICE}) ({_first('sum', _OF_POD, rates)})"
    else:
        for part in figure.parts:
            bound = ", le" if part == "bucket" else ""
            rates = [[_rate(f"{each.name}_{part}")] for each in series]
            whole = f"sum by ({_OF_SERVICE}{bound}) ({_first('sum', _OF_POD + bound, rates)})"
            yield part_of(figure.record, part), whole


def _first(how: str, labels: str, alternatives: list[list[str]]) -> str:
    """Of each pod the first of the alternatives that it has; an alternative is a sum."""
    sums = [" + ".join(f"{how} by ({labels}) ({addend})" for addend in addends) for addends in alternatives]
    return " or ".join(f"({each})" if " + " in each else each for each in sums)


def _rate(selector: str) -> str:
    return f"rate({selector}[{WINDOW}])"


def _selector(series: Series) -> str:
    if series.in_label:
        raise ValueError(f"{series.name}[{series.label}] is a number in a label, which no rule can record")
    if not series.label:
        return series.name
    operator, values = (
        ("=", next(iter(series.accepted))) if len(series.accepted) == 1 else ("=~", "|".join(sorted(series.accepted)))
    )
    return f'{series.name}{{{series.label}{operator}"{values}"}}'
