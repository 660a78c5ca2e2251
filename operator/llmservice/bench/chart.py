"""A bench as a picture: throughput over latency, and latency over users or over time. Needs the extra `plot`."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from llmservice.bench.figures import Figures
from llmservice.bench.report import Report

_COLOURS = ("#0072b2", "#d55e00")
"""Told apart by colour-blind people too (Okabe and Ito)."""

_FEW = 2


def chart(reports: Sequence[Report]) -> Figure:
    """One report or two of the same load. Phases over users where there are several, else the one phase over time."""
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    first = reports[0]
    title = " and ".join(report.target for report in reports)
    partial = ", partial" if any(report.partial for report in reports) else ""
    figure.suptitle(f"{title}: {first.load}{partial}", fontsize=10, parse_math=False)
    over_phases = len(first.rows) >= _FEW
    for report, colour in zip(reports, _COLOURS, strict=False):
        if over_phases:
            _throughput_over_latency(left, report, colour)
            _latency_over_users(right, report, colour)
        else:
            _throughput_over_time(left, report, colour)
            _latency_over_time(right, report, colour)
    left.set_xlim(left=0)  # now that everything is drawn: it ends the search for the other limit
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(bottom=0)
        axes.legend(loc="best", frameon=False, fontsize=8)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write the figure; the same figure is the same file. Raises OSError."""
    with mpl.rc_context({"svg.hashsalt": "llmservice", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _throughput_over_latency(axes: Axes, report: Report, colour: str) -> None:
    rows = [row for row in report.rows if row.whole]
    xs = [row.whole.median for row in rows if row.whole]
    ys = [row.tokens_per_second for row in rows]
    axes.plot(xs, ys, "o-", lw=1.2, ms=4, color=colour, label=report.target)
    for row, x, y in zip(rows, xs, ys, strict=True):
        axes.annotate(row.name[:12], (x, y), textcoords="offset points", xytext=(4, -9), fontsize=7, color=colour)
    axes.set_xlabel("seconds to the last token, median")
    axes.set_ylabel("output tokens/s")


def _latency_over_users(axes: Axes, report: Report, colour: str) -> None:
    rows = [row for row in report.rows if row.first]
    xs = [row.users for row in rows]
    for place, style, name in ((0, "o-", "median"), (2, "o:", "99 %")):
        axes.plot(
            xs,
            [row.first.percentiles[place] for row in rows if row.first],
            style,
            lw=1.2,
            ms=3,
            color=colour,
            label=f"{report.target}: {name}",
        )
    axes.set_xlabel("requests a second" if report.rows_are == "interval" else "users at once")
    axes.set_ylabel("seconds to first token")


def _throughput_over_time(axes: Axes, report: Report, colour: str) -> None:
    for row in report.rows:
        xs = [moment.at for moment in row.moments]
        axes.plot(xs, [moment.tokens_per_second for moment in row.moments], lw=1.2, color=colour, label=report.target)
    axes.set_xlabel("seconds")
    axes.set_ylabel("output tokens/s of requests that ended")


def _latency_over_time(axes: Axes, report: Report, colour: str) -> None:
    for row in report.rows:
        _line(axes, row, colour, f"{report.target}: to first token, median")
    axes.set_xlabel("seconds")
    axes.set_ylabel("seconds to first token")


def _line(axes: Axes, row: Figures, colour: str, label: str) -> None:
    points = [(moment.at, moment.first) for moment in row.moments if moment.first is not None]
    axes.plot([at for at, _ in points], [first for _, first in points], lw=1.2, color=colour, label=label)
