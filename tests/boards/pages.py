"""Pages of metrics to be scraped: the recorded ones of engines, and what other versions show by their rows."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from llmservice.catalog.metrics import METRIC_ROLES, Series
from llmservice.engines.metric_names import MetricNames
from llmservice.signals.exposition import scan
from llmservice.signals.samples import Samples, wanted
from tests.unit.signals.fake_engine import VERSIONS, Answer, page, recorded
from tools.dashboard.measured import PROXIED, sources

_HISTOGRAMS = ("ttft", "tpot", "inter_token_latency")
_BEHIND_PROXY = Path(__file__).parents[1] / "unit" / "proxy" / "expositions"
_COUNTS = ("_total", "_count", "_sum", "_bucket", "_success")
_TYPE = re.compile(r"^# TYPE (\S+) (\S+)")


@dataclass(frozen=True)
class Played:
    """An engine of one version with load: the text of its page, and how it names what it measures."""

    engine: str
    version: str
    text: str
    names: MetricNames

    @property
    def service(self) -> str:
        """The name of the service that it stands for."""
        return f"{self.engine}-{self.version}".replace(".", "-")

    @cached_property
    def samples(self) -> Samples:
        """The samples that the operator wants of the page."""
        return scan(self.text.encode(), wanted(self.names))


def played() -> list[Played]:
    """Every version of every engine: from its recorded page, else by the names in its row."""
    found = [
        Played(engine, version, _text(engine, version, names), names)
        for engine, source in sources().items()
        if engine != PROXIED
        for version, names in source.items()
    ]
    proxied = sources()[PROXIED][""]
    pages = sorted(_BEHIND_PROXY.glob("haproxy-*.txt"))
    return found + [Played(PROXIED, path.stem.partition("-")[2], path.read_text(), proxied) for path in pages]


def growing(text: str) -> Answer:
    """An answer whose counters grow by their value every ten seconds."""
    lines, began = list(_lines(text)), time.monotonic()

    def answer(request: BaseHTTPRequestHandler) -> None:
        factor = 1.0 + (time.monotonic() - began) / 10.0
        shown = (f"{head} {float(value) * factor}" if grows else f"{head} {value}" for head, value, grows in lines)
        page("\n".join(shown) + "\n")(request)

    return answer


def _lines(text: str) -> Iterator[tuple[str, str, bool]]:
    """Name with labels, value, and whether it counts. A page that does not grow has rates of nothing."""
    kinds = {found[1]: found[2] for line in text.splitlines() if (found := _TYPE.match(line))}
    for line in text.splitlines():
        head, _, value = line.rpartition(" ")
        if line and not line.startswith("#"):
            name = head.partition("{")[0]
            yield head, value, _counts(name, kinds.get(name)) and value not in {"NaN", "+Inf"}


def _counts(name: str, kind: str | None) -> bool:
    return kind == "counter" or (kind is None and name.endswith(_COUNTS))


def _text(engine: str, version: str, names: MetricNames) -> str:
    return recorded(engine).decode() if VERSIONS[engine] == version else "\n".join(_composed(names)) + "\n"


def _composed(names: MetricNames) -> Iterator[str]:
    """A page with the series that the row of a version names: the first of each role."""
    for role in METRIC_ROLES:
        for series in map(Series.parse, names.names(role)[:1]):
            yield from _histogram(series.name) if role in _HISTOGRAMS else _numbers(role, series)


def _histogram(name: str) -> Iterator[str]:
    yield f"# TYPE {name} histogram"
    for bound, count in (("0.1", 3), ("0.5", 8), ("+Inf", 10)):
        yield f'{name}_bucket{{le="{bound}"}} {count}'
    yield f"{name}_count 10"
    yield f"{name}_sum 2.5"


def _numbers(role: str, series: Series) -> Iterator[str]:
    for part in series.addends:
        label = next(iter(part.accepted), "")
        yield (
            f'{part.name}{{{part.label}="{label}"}} 0.25' if label else f"{part.name} {0.25 if role == 'kv_use' else 4}"
        )
