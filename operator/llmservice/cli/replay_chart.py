"""A replay, or several of one load, as a chart: load, replicas, and latency or what each policy attained, over time.

The only module that needs the extra `plot`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from llmservice.simulation.replaying import Moment, Replay, within
from llmservice.simulation.request import Request

_MINUTE = 60.0
_WINDOW_SECONDS = 300.0
"""Attainment is drawn over five minutes at a time."""

_NEVER_SECONDS = 600.0
"""Drawn for a request that never got a token."""

Points = Sequence[tuple[float, float]]
"""(seconds, value), by time."""


def chart(title: str, replays: Mapping[str, Replay]) -> Figure:
    """Three panels over the scored time; `replays` of the same load by policy, at least one."""
    figure = Figure(figsize=(9.6, 7.2), layout="constrained")
    load, replicas, outcome = figure.subplots(3, 1, sharex=True)
    first = next(iter(replays.values()))
    whole = title if len(replays) > 1 else f"{title}, {next(iter(replays))}"
    load.set_title(whole, loc="left", fontsize=10, parse_math=False)
    _line(load, per_window(_arrived(first), sum_per_second, _MINUTE), "arriving")
    load.set_ylabel("thousand tokens/s")
    load.set_ylim(bottom=0)
    if len(replays) == 1:
        _replicas_of(replicas, first)
        _first_tokens_of(outcome, first)
    else:
        _replicas_by_policy(replicas, replays)
        _attainment_by_policy(outcome, replays)
    for axes in (load, replicas, outcome):
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="best", frameon=False, fontsize=8)
    outcome.set_xlabel("minutes")
    outcome.set_xlim(first.start / _MINUTE, first.end / _MINUTE)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write the figure; the same figure is the same file. Raises OSError."""
    with mpl.rc_context({"svg.hashsalt": "llmservice", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def per_window(
    samples: Iterable[tuple[float, float]], summed_up: Callable[[list[float], float], float], seconds: float
) -> Points:
    """One point per window of so many seconds, in its middle; `summed_up` gets its values and its length."""
    windows = groupby(samples, key=lambda sample: sample[0] // seconds)
    return [((number + 0.5) * seconds, summed_up([value for _, value in group], seconds)) for number, group in windows]


def sum_per_second(values: list[float], seconds: float) -> float:
    """Their sum per second, in thousands."""
    return sum(values) / seconds / 1e3


def quantile(share: float) -> Callable[[list[float], float], float]:
    """The value that this share of a window's values does not exceed."""
    return lambda values, _: sorted(values)[min(len(values) - 1, int(share * len(values)))]


def steps(moments: Sequence[Moment], value: Callable[[Moment], float]) -> Points:
    """The moments at which a number changed, and the last one."""
    points = [(moment.at, value(moment)) for moment in moments]
    kept = [
        point for before, point in zip([None, *points], points, strict=False) if not before or before[1] != point[1]
    ]
    return [*kept, *points[-1:]]


def _arrived(replay: Replay) -> list[tuple[float, float]]:
    return [(request.at, request.prompt_tokens + request.output_tokens) for request in replay.requests]


def _first_token(request: Request) -> tuple[float, float]:
    return request.at, _NEVER_SECONDS if request.ttft_seconds is None else request.ttft_seconds


def _replicas_of(axes: Axes, replay: Replay) -> None:
    _steps(axes, steps(replay.moments, lambda moment: moment.asked), "asked for", "-")
    _steps(axes, steps(replay.moments, lambda moment: moment.ready), "ready", ":")
    axes.set_ylabel("replicas")
    axes.set_ylim(bottom=0)


def _first_tokens_of(axes: Axes, replay: Replay) -> None:
    latencies = [_first_token(request) for request in replay.requests]
    for share, label in ((0.5, "median"), (0.99, "99 %")):
        _line(axes, per_window(latencies, quantile(share), _MINUTE), label)
    axes.axhline(replay.objective.ttft_seconds, color="#888888", ls="--", lw=1, label="objective")
    axes.set_ylabel("seconds to first token")
    axes.set_ylim(bottom=0)


def _replicas_by_policy(axes: Axes, replays: Mapping[str, Replay]) -> None:
    for name, replay in replays.items():
        label = f"{name}: {replay.average_replicas:.2f} on average"
        _steps(axes, steps(replay.moments, lambda moment: moment.asked), label, "-")
    axes.set_ylabel("replicas asked for")
    axes.set_ylim(bottom=0)


def _attainment_by_policy(axes: Axes, replays: Mapping[str, Replay]) -> None:
    for name, replay in replays.items():
        met = [(request.at, 100.0 * within(request, replay.objective)) for request in replay.requests]
        means = per_window(met, lambda values, _: sum(values) / len(values), _WINDOW_SECONDS)
        _line(axes, means, f"{name}: {replay.attainment:.2%} in all")
    axes.set_ylabel("% within the objective")


def _line(axes: Axes, points: Points, label: str) -> None:
    axes.plot([at / _MINUTE for at, _ in points], [value for _, value in points], lw=1.2, label=label)


def _steps(axes: Axes, points: Points, label: str, style: str) -> None:
    minutes = [at / _MINUTE for at, _ in points]
    axes.step(minutes, [value for _, value in points], where="post", ls=style, lw=1.2, label=label)
