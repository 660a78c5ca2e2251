"""Samples of the wanted series → a Reading or a ReadFailure, in the same way for every source."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from llmservice.autoscaling.counters import Counters, Histogram, plausible
from llmservice.autoscaling.snapshot import LARGEST_READING
from llmservice.catalog.metrics import METRIC_ROLES, Series
from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.converging.redaction import redacted
from llmservice.engines.metric_names import MetricNames
from llmservice.untrusted.patterns import compiled

_HISTOGRAMS = ("ttft", "tpot", "inter_token_latency")
_NUMBERS = tuple(role for role in METRIC_ROLES if role not in _HISTOGRAMS)
_AVERAGED = frozenset({"kv_use"})
_NO_BUCKETS = frozenset({"inter_token_latency"})
_OPTIONAL = frozenset({"slots", "steps", "preemptions"})
"""Roles that a version need not report: no number of replicas depends on them."""
_NEEDED = ("running", "waiting")
_MOVE_WITH_STEPS = ("prompt_tokens", "generated_tokens", "steps", "kv_use")
_SINGLE_EVENTS = frozenset({"rejected"})
"""Roles whose series may stay away for ever; the others come with the first request that ends."""
_LONGEST_SHOWN = 128
_COME_WITH_AN_END = ("finished", "generated_tokens", "tpot")
_BEGINNING = compiled(r"(?P<beginning>[:_]*[^:_]*[:_]?)")
"""Of a name: what all names of an engine begin with, such as `vllm:` or `tgi_`."""


class Sample(NamedTuple):
    """One label set of a series: the label that was asked for (else empty), and the value."""

    label: str
    value: float


Samples = Mapping[str, Sequence[Sample]]
"""Name of a series → its label sets."""


@cache
def wanted(metric_names: MetricNames) -> Mapping[str, str]:
    """The names to fetch, fall-backs too → the label to read of each; empty where none is needed."""
    names: dict[str, str] = {}
    for role in METRIC_ROLES:
        for series in _series(metric_names, role):
            for name, label in _parts(role, series):
                names[name] = label or names.get(name, "")
    return names


@cache
def averaged(metric_names: MetricNames) -> frozenset[str]:
    """Of the wanted names, those whose label sets are averaged; all others are added up."""
    return frozenset(
        part.name for role in _AVERAGED for series in _series(metric_names, role) for part in series.addends
    )


def is_of_engine(names: Iterable[str], metric_names: MetricNames) -> bool:
    """Whether one of a pod's series can be the engine's, even one that is not read."""
    return any(name.startswith(_beginnings(metric_names)) for name in names)


def of_another_engine(metric_names: MetricNames) -> ReadFailure:
    """The failure for a pod that has metrics, but none of the engine: it is not idle, its load is unknown."""
    begins = " or ".join(_beginnings(metric_names))
    return ReadFailure(
        reason=ReadFailureReason.SIGNAL_MISSING,
        message=f"it has metrics, but none whose name begins with {begins}: wait while a "
        "rollout replaces it, else correct spec.engineOptions.image",
    )


def reading_from(samples: Samples, metric_names: MetricNames, at: float) -> Reading | ReadFailure:
    """The Reading of one pod. What is absent is unknown, never zero, except series that are created on first use."""
    numbers = {role: value for role in _NUMBERS if (value := _number_of(role, samples, metric_names)) is not None}
    histograms = {
        role: found for role in _HISTOGRAMS if (found := _histogram_of(role, samples, metric_names)) is not None
    }
    there = numbers.keys() | histograms.keys()
    zero = frozenset(role for role in metric_names.created_on_first_use - there if _may_be_zero(role, there))
    missing = next((role for role in METRIC_ROLES if _is_due(role, metric_names) and role not in there | zero), None)
    if missing:
        return _missing(missing, metric_names)
    histograms |= dict.fromkeys(zero & set(_HISTOGRAMS), Histogram(count=0.0, total=0.0))
    problem = _problem_of_values(samples) or _problem_of_roles(numbers, histograms)
    if problem:
        return _no_number(problem)
    reading = _reading(at, dict.fromkeys(zero, 0.0) | numbers, histograms)
    return reading if any(map(metric_names.names, _MOVE_WITH_STEPS)) else replace(reading, shows_steps=False)


@cache
def _beginnings(metric_names: MetricNames) -> tuple[str, ...]:
    return tuple(sorted({found["beginning"] for name in wanted(metric_names) if (found := _BEGINNING.first(name))}))


@cache
def _series(metric_names: MetricNames, role: str) -> tuple[Series, ...]:
    return tuple(map(Series.parse, metric_names.names(role)))


def _parts(role: str, series: Series) -> tuple[tuple[str, str], ...]:
    if role not in _HISTOGRAMS:
        return tuple((part.name, part.label) for part in series.addends)
    ends = ((f"{series.name}_count", ""), (f"{series.name}_sum", ""))
    return ends if role in _NO_BUCKETS else (*ends, (f"{series.name}_bucket", "le"))


def _number_of(role: str, samples: Samples, metric_names: MetricNames) -> float | None:
    """The first series that is present, over its label sets; None where none is."""
    for series in _series(metric_names, role):
        found = [_value_of(part, role, samples) for part in series.addends]
        values = [value for value in found if value is not None]
        if len(values) == len(found):
            return sum(values)
    return None


def _value_of(series: Series, role: str, samples: Samples) -> float | None:
    """One series over its label sets; None where it is absent."""
    rows = samples.get(series.name, ())
    if series.in_label:
        values = [number * row.value for row in rows if (number := _number_in(row.label)) is not None]
    else:
        values = [row.value for row in rows if not series.accepted or row.label in series.accepted]
    if not values:
        return None
    return fmean(values) if role in _AVERAGED else sum(values)


def _histogram_of(role: str, samples: Samples, metric_names: MetricNames) -> Histogram | None:
    for series in _series(metric_names, role):
        count, total = (samples.get(f"{series.name}_{end}") for end in ("count", "sum"))
        buckets = {} if role in _NO_BUCKETS else _buckets(samples.get(f"{series.name}_bucket", ()))
        if count and total and (buckets or role in _NO_BUCKETS):
            return Histogram(
                count=sum(row.value for row in count),
                total=sum(row.value for row in total),
                bounds=tuple(buckets),
                counts=tuple(buckets.values()),
            )
    return None


def _buckets(rows: Sequence[Sample]) -> dict[float, float]:
    """Finite bound → count over all label sets, in rising order."""
    counts: dict[float, float] = {}
    for label, value in rows:
        bound = _number_in(label)
        if bound is not None:
            counts[bound] = counts.get(bound, 0.0) + value
    return dict(sorted(counts.items()))


def _number_in(label: str) -> float | None:
    try:
        return plausible(float(label))
    except ValueError:
        return None


def _is_due(role: str, metric_names: MetricNames) -> bool:
    return role in _NEEDED or (role not in _OPTIONAL and bool(metric_names.names(role)))


def _may_be_zero(role: str, there: Collection[str]) -> bool:
    """Not once a request has ended: then a series that is still absent goes by another name."""
    return role in _SINGLE_EVENTS or not any(each in there for each in _COME_WITH_AN_END)


def _problem_of_values(samples: Samples) -> str:
    for name, rows in samples.items():
        for label, value in rows:
            if not 0.0 <= value <= LARGEST_READING:
                return f"{name} is {value}"
            if name.endswith("_bucket") and label != "+Inf" and _number_in(label) is None:
                return f'{name} has a bucket le="{redacted(label, _LONGEST_SHOWN)}"'
    return ""


def _problem_of_roles(numbers: Mapping[str, float], histograms: Mapping[str, Histogram]) -> str:
    if (use := numbers.get("kv_use", 0.0)) > 1.0:
        return f"the share of the KV cache in use is {use}"
    for role, histogram in histograms.items():
        if histogram.counts and any(low > high for low, high in pairwise((*histogram.counts, histogram.count))):
            return f"the histogram for {role} has buckets that fall"
    return ""


def _missing(role: str, metric_names: MetricNames) -> ReadFailure:
    names = " or ".join(metric_names.names(role))
    problem = (
        f"{names} is not among its metrics: name the version that is in the image in spec.engineOptions.version"
        if names
        else f"no metric is known for {role}"
    )
    return ReadFailure(
        reason=ReadFailureReason.SIGNAL_MISSING,
        message=f"{problem}; or write its metric into the catalogue: metrics.{role} of the version's row",
    )


def _no_number(problem: str) -> ReadFailure:
    remedy = "delete the pod, and take another spec.engineOptions.version if it comes back"
    return ReadFailure(reason=ReadFailureReason.IMPLAUSIBLE, message=f"{problem}, which no engine can mean: {remedy}")


def _reading(at: float, numbers: Mapping[str, float], histograms: Mapping[str, Histogram]) -> Reading:
    counters = Counters(
        at=at,
        running=numbers["running"],
        waiting=numbers["waiting"],
        prompt_tokens=numbers.get("prompt_tokens", 0.0),
        generated_tokens=numbers.get("generated_tokens", 0.0),
        finished=numbers.get("finished"),
        rejected=numbers.get("rejected", 0.0),
        finished_prompt_tokens=numbers.get("finished_prompt_tokens"),
        finished_generated_tokens=numbers.get("finished_generated_tokens"),
        ttft=histograms.get("ttft"),
        tpot=histograms.get("tpot"),
        inter_token_latency=histograms.get("inter_token_latency"),
        steps=numbers.get("steps"),
        preemptions=numbers.get("preemptions"),
    )
    return Reading(
        counters=counters,
        kv_use=numbers.get("kv_use"),
        slots=int(numbers["slots"]) if "slots" in numbers else None,
    )
