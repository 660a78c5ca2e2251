"""One query for all wanted series of a namespace, and its answer as scrapes. Pure.

The server adds up the label sets of a pod, as a reading does. So neither long labels nor many data-parallel engines
make the answer larger. Sums, means and maxima are parts of one query, told apart by a label of ours.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from llmservice.signals.samples import Sample, averaged, wanted
from llmservice.signals.source import Target

EXPOSED = "scrape_samples_scraped"
"""How many samples a scrape found, of whatever name. It tells a page that is empty from one of another engine."""
_SCRAPE_LABELS = ("job", "instance", "prometheus", "prometheus_replica")
"""Labels that tell two scrapes of one pod apart, of which one must not be added to the other."""
_PART = "llmservice_part"
"""`or` drops a row whose labels another part has already, whatever their names."""
_AT = "at"
_LONGEST_LABEL = 256
_NO_LABELS: Mapping[str, str] = MappingProxyType({})


class Row(NamedTuple):
    """One row of a vector: whose, of which scrape, the name (or part), the labels besides, and the value."""

    pod: str
    scrape: tuple[str, ...]
    name: str
    labels: Mapping[str, str]
    value: float


@dataclass(slots=True)
class Scrape:
    """One scrape of one pod: its time, and its samples by name, those about the scrape itself among them."""

    at: float
    instance: str
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Whether the pod answered with metrics."""
        return any(sample.value == 1.0 for sample in self.samples.get("up", ()))

    @property
    def has_load(self) -> bool:
        """Whether it has more than the series that every scrape has."""
        return bool(self.samples.keys() - {"up", EXPOSED})

    @property
    def exposed(self) -> bool:
        """Whether the pod exposed any samples, as far as the server knows."""
        return any(sample.value > 0 for sample in self.samples.get(EXPOSED, ()))


def labels_wanted(targets: Iterable[Target]) -> dict[str, str]:
    """The names to ask for → the label to read of each."""
    return {name: label for each in {t.metric_names for t in targets} for name, label in wanted(each).items()}


def query_for(targets: Sequence[Target], namespace_label: str, pod_label: str) -> str:
    """The query for targets of one namespace."""
    names = labels_wanted(targets)
    means = {name for each in {t.metric_names for t in targets} for name in averaged(each)}
    labels = sorted({"__name__", pod_label, *_SCRAPE_LABELS, *names.values()} - {""})
    those = f'{namespace_label}="{targets[0].namespace}",{pod_label}!=""'

    def part(operator: str, vector: str) -> str:
        return f'label_replace({operator} by({",".join(labels)})({vector}),"{_PART}","{operator}","","")'

    def named(which: Iterable[str]) -> str:
        return f'{{__name__=~"{"|".join(sorted(which))}",{those}}}'

    at = f'label_replace(max by({",".join(labels)})(timestamp(up{{{those}}})),"{_PART}","{_AT}","","")'
    sums, most = part("sum", named(names.keys() - means)), part("max", named({"up", EXPOSED}))
    return " or ".join((sums, *([part("avg", named(means))] if means else []), most, at))


def reduced(answer: Any, pod_label: str) -> Any:
    """An answer whose vector is made of Rows, changed where it stands: its labels' dicts go while it is read.

    Raises ValueError, KeyError, TypeError, IndexError or AttributeError for what is no answer of Prometheus.
    """
    result = answer["data"]["result"]
    known: dict[str, str] = {}
    for number, row in enumerate(result):
        if isinstance(row, dict):
            result[number] = _row(row, pod_label, known)
    return answer


def scrapes_in(rows: Sequence[Row], names: Mapping[str, str]) -> dict[str, dict[tuple[str, ...], Scrape]]:
    """Pod → its scrapes; `names` as from `labels_wanted`."""
    scrapes: dict[str, dict[tuple[str, ...], Scrape]] = {}
    for row in rows:
        if row.name == _AT:
            scrapes.setdefault(row.pod, {})[row.scrape] = Scrape(at=row.value, instance=row.scrape[1])
    for row in rows:
        found = scrapes.get(row.pod, {}).get(row.scrape)
        if found and row.name != _AT:
            label = row.labels.get(names.get(row.name, ""), "")
            found.samples.setdefault(row.name, []).append(Sample(label, row.value))
    return scrapes


def _row(row: Mapping[str, Any], pod_label: str, known: dict[str, str]) -> Row:
    """Equal strings are stored once and long ones are cut: tenants choose them."""

    def text(value: str) -> str:
        short = value[:_LONGEST_LABEL]
        return known.setdefault(short, short)

    labels = row["metric"]
    pod, name = text(labels.pop(pod_label)), text(labels.pop("__name__", _AT))
    scrape = tuple(text(labels.pop(label, "")) for label in _SCRAPE_LABELS)
    labels.pop(_PART, None)
    rest = {text(label): text(value) for label, value in labels.items()} or _NO_LABELS
    return Row(pod, scrape, name, rest, float(row["value"][1]))
