"""A replay as a picture: load, replicas and latency over time, one SVG with three panels."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from xml.sax.saxutils import escape

from llmservice.simulation.replaying import Moment, Replay
from llmservice.simulation.request import Request

Points = Sequence[tuple[float, float]]
"""(seconds, value), by time."""

_WIDTH, _PANEL, _GAP, _LEFT, _TOP = 960, 150, 46, 64, 34
_INTERVAL_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a panel."""

    label: str
    colour: str
    points: Points
    stepped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One panel: what it shows, its lines, and a dashed level worth comparing with."""

    title: str
    lines: tuple[Line, ...]
    level: float | None = None

    @property
    def top(self) -> float:
        """The value at its upper edge: the largest of its lines and level, rounded up to 1, 2 or 5 times ten^n."""
        largest = max([self.level or 0.0, *(value for line in self.lines for _, value in line.points)], default=1.0)
        power = 10.0 ** math.floor(math.log10(max(largest, 1e-9)))
        return next(step * power for step in (1, 2, 5, 10) if step * power >= largest * 0.999)


def svg(replay: Replay, title: str) -> str:
    """The picture of a replay, as the text of an SVG file."""
    panels = _panels(replay)
    height = _TOP + len(panels) * (_PANEL + _GAP)
    body = [f'<text x="{_LEFT}" y="18" font-weight="bold">{escape(title)}</text>']
    for row, panel in enumerate(panels):
        body += _drawn(panel, _TOP + 14 + row * (_PANEL + _GAP), (replay.start, replay.end))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _panels(replay: Replay) -> tuple[Panel, ...]:
    arrived = [(r.at, r.prompt_tokens + r.output_tokens) for r in replay.requests]
    first = [(r.at, _first_token(r)) for r in replay.requests]
    return (
        Panel(
            title="load, thousand tokens/s",
            lines=(
                Line(label="arriving", colour="#1f5fa8", points=_by_interval(arrived, lambda all_: sum(all_) / 6e4)),
            ),
        ),
        Panel(
            title="replicas",
            lines=(
                Line(label="asked for", colour="#c2571a", points=_moments(replay, lambda m: m.asked), stepped=True),
                Line(label="ready", colour="#2f7d32", points=_moments(replay, lambda m: m.ready), stepped=True),
            ),
        ),
        Panel(
            title="time to first token, seconds",
            lines=(
                Line(label="median", colour="#1f5fa8", points=_by_interval(first, lambda all_: _quantile(all_, 0.5))),
                Line(label="99 %", colour="#a01e3c", points=_by_interval(first, lambda all_: _quantile(all_, 0.99))),
            ),
            level=replay.objective.ttft_seconds,
        ),
    )


def _first_token(request: Request) -> float:
    """Seconds, drawn at ten minutes where no token ever came."""
    return 600.0 if request.ttft_seconds is None else request.ttft_seconds


def _moments(replay: Replay, value: Callable[[Moment], float]) -> Points:
    return [(moment.at, value(moment)) for moment in replay.moments]


def _by_interval(samples: Iterable[tuple[float, float]], summed_up: Callable[[list[float]], float]) -> Points:
    """One point per minute, in its middle."""
    minutes = groupby(samples, key=lambda sample: sample[0] // _INTERVAL_SECONDS)
    return [((minute + 0.5) * _INTERVAL_SECONDS, summed_up([value for _, value in group])) for minute, group in minutes]


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _drawn(panel: Panel, top: float, span: tuple[float, float]) -> list[str]:
    start, end = span
    right, bottom, scale = _WIDTH - 16, top + _PANEL, _PANEL / panel.top

    def x(at: float) -> float:
        return _LEFT + (right - _LEFT) * (min(max(at, start), end) - start) / (end - start)

    def y(value: float) -> float:
        return bottom - min(value, panel.top) * scale

    parts = [f'<text x="{_LEFT}" y="{top - 6}">{escape(panel.title)}{_legend(panel)}</text>']
    for share in (0.0, 0.5, 1.0):
        at = y(share * panel.top)
        parts.append(f'<path d="M{_LEFT} {at:.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{share * panel.top:g}</text>')
    parts += [
        f'<text x="{x(start + minutes * 60):.1f}" y="{bottom + 15}" text-anchor="middle">{minutes} min</text>'
        for minutes in range(0, int((end - start) / 60) + 1, 10)
    ]
    if panel.level is not None:
        parts.append(f'<path d="M{_LEFT} {y(panel.level):.1f}H{right}" stroke="#888" stroke-dasharray="5 4"/>')
    parts += [f'<path d="{_path(line, x, y)}" fill="none" stroke="{line.colour}"/>' for line in panel.lines]
    return parts


def _legend(panel: Panel) -> str:
    return "".join(f'<tspan fill="{line.colour}" dx="14">{escape(line.label)}</tspan>' for line in panel.lines)


def _path(line: Line, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    if not line.points:
        return ""
    first, value = line.points[0]
    path = [f"M{x(first):.1f} {y(value):.1f}"]
    for (_, before), (at, after) in pairwise(line.points):
        if line.stepped:
            path += [f"H{x(at):.1f}", f"V{y(after):.1f}"] if after != before else ()
        else:
            path.append(f"L{x(at):.1f} {y(after):.1f}")
    return "".join([*path, f"H{x(line.points[-1][0]):.1f}"])
