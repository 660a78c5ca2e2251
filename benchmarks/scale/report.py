"""The figures as people read them: a table, a plot, and the page of docs/reference that shows both."""

import dataclasses
import json
import re
from collections.abc import Callable, Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.scale.measuring import Result
from benchmarks.scale.process import ROOT

PAGE = ROOT / "docs" / "reference" / "scale.md"
RESULTS, PLOT = PAGE.with_suffix(".json"), PAGE.with_suffix(".svg")

Row = tuple[str, str, Callable[[Result], str]]

ROWS: tuple[Row, ...] = (
    ("the same children made by a bare client, s", "", lambda result: f"{result.bare_seconds:.1f}"),
    ("created, s", "", lambda result: f"{result.create_seconds:.1f}"),
    ("every child exists, s after the last create", "2.5 at 500", lambda result: f"{result.children_seconds:.1f}"),
    ("that and the creation, ratio to the bare client", "", lambda result: f"{_ratio(result):.2f}"),
    ("every status Ready and current, s after", "", lambda result: f"{result.ready_seconds:.1f}"),
    ("CPU of the operator, ms a service", "4", lambda result: f"{result.cpu_ms_per_service:.1f}"),
    ("writes a service", "6", lambda result: f"{result.writes_per_service:.2f}"),
    ("reads a service", "", lambda result: f"{result.reads_per_service:.2f}"),
    ("passes a service", "", lambda result: f"{result.passes_per_service:.2f}"),
    ("memory (RSS) right after, MiB", "", lambda result: f"{result.memory_mib:.0f}"),
    ("worst lag of the event loop, ms", "", lambda result: f"{result.worst_lag_ms:.0f}"),
    ("idle: CPU of the operator, % of a core", "0.3", lambda result: f"{result.idle_cpu_percent:.2f}"),
    ("idle: CPU of the API server, %", "", lambda result: f"{result.idle_api_server_percent:.1f}"),
    ("idle: memory (RSS), MiB", "110 at 1,000", lambda result: f"{result.idle_memory_mib:.0f}"),
    ("idle: writes", "0", lambda result: str(result.idle_writes)),
    ("started again: in sync after, s", "15 at 5,000", lambda result: f"{result.restart_seconds:.1f}"),
    ("started again: CPU, s", "", lambda result: f"{result.restart_cpu_seconds:.1f}"),
    ("started again: memory (RSS), MiB", "", lambda result: f"{result.restart_memory_mib:.0f}"),
    ("started again: writes", "0", lambda result: str(result.restart_writes)),
    ("CPU of the cluster meanwhile, ms a service", "", lambda result: f"{_cluster(result):.0f}"),
    ("load before and after", "", lambda result: f"{result.load_before:.1f}, {result.load_after:.1f}"),
    ("day", "", lambda result: result.day),
)


def as_table(results: Sequence[Result]) -> str:
    """Markdown: one row for each figure, one column for each size."""
    head = ["services", "target", *(f"{result.services:,}" for result in results)]
    rows = [[name, target, *(value(result) for result in results)] for name, target, value in ROWS]
    return _markdown([head, *rows])


def as_profile(results: Sequence[Result]) -> str:
    """Markdown: milliseconds of CPU a service by part, while the workload grew."""
    parts = {part: None for result in results for part in result.parts}
    head = ["CPU of the operator, ms a service", *(f"{result.services:,}" for result in results)]
    rows = [
        [part, *(f"{result.parts.get(part, 0.0) * result.cpu_ms_per_service:.2f}" for result in results)]
        for part in parts
    ]
    return _markdown([head, *rows])


def publish(result: Result) -> None:
    """Put the result beside those of other sizes, and write table, profile and plot anew."""
    known = {item.services: item for item in _known()} | {result.services: result}
    results = [known[size] for size in sorted(known)]
    RESULTS.write_text(json.dumps([dataclasses.asdict(item) for item in results], indent=1) + "\n")
    page = PAGE.read_text()
    for name, text in (("table", as_table(results)), ("profile", as_profile(results))):
        marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
        page = re.sub(f"{marks[0]}.*?{marks[1]}", f"{marks[0]}\n{text}\n{marks[1]}", page, flags=re.DOTALL)
    PAGE.write_text(page)
    _plot(results)


def _known() -> list[Result]:
    """Earlier results; what was measured before a figure was added is measured again."""
    figures = {field.name for field in dataclasses.fields(Result)}
    items = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    return [Result(**item) for item in items if item.keys() == figures]


def _ratio(result: Result) -> float:
    return (result.create_seconds + result.children_seconds) / result.bare_seconds


def _cluster(result: Result) -> float:
    return sum(result.cluster_cpu_ms_per_service.values())


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, f"|{'---|' * len(rows[0])}", *rest])


def _plot(results: Sequence[Result]) -> None:
    mpl.rcParams |= {"svg.hashsalt": "scale", "svg.fonttype": "none"}  # the same figures give the same small file
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    times, costs = figure.subplots(1, 2)
    sizes = [result.services for result in results]
    times.loglog(sizes, [result.children_seconds for result in results], "o-", label="every child exists")
    times.loglog(sizes, [result.ready_seconds for result in results], "s-", label="every status Ready")
    times.loglog(sizes, [result.restart_seconds for result in results], "^-", label="started again: in sync")
    times.set(xlabel="services", ylabel="seconds after the last create, or the start")
    costs.semilogx(sizes, [result.cpu_ms_per_service for result in results], "o-", label="operator")
    costs.axhline(4, linestyle=":", color="gray", label="target")
    costs.set(xlabel="services", ylabel="CPU until Ready, ms a service", ylim=(0, None))
    for axes in (times, costs):
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.legend(frameon=False)
    figure.savefig(PLOT, metadata={"Date": None})
