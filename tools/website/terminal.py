"""A terminal as a picture: commands and what they printed, as an SVG whose lines appear as they did."""

from collections.abc import Iterator, Sequence
from io import StringIO
from typing import NamedTuple

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

COLUMNS = 100
_ID = "terminal"
_FIRST, _TYPING, _LONGEST = 0.5, 0.9, 2.0
"""Seconds before the first line, between a command and what it prints, and of a command that took longer than that."""

_TEMPLATE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A terminal</title>
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
{styles}
@keyframes shown {{ from {{ visibility: hidden }} to {{ visibility: visible }} }}
@media (prefers-reduced-motion: no-preference) {{
TIMES
}}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


class Shown(NamedTuple):
    """A command as it was typed, what it printed, and how long it took."""

    command: str
    printed: str
    seconds: float


def picture(story: Sequence[Shown], title: str) -> str:
    """The SVG. Nothing in it is loaded from elsewhere, and with reduced motion every line is there at once."""
    console = Console(width=COLUMNS, record=True, file=StringIO(), highlight=False)
    delays = []
    for when, text in _timed(story):
        lines = text.wrap(console, COLUMNS)
        delays += [when] * len(lines)
        for line in lines:
            console.print(line, no_wrap=True, overflow="crop")
    svg = console.export_svg(title=title, theme=DIMMED_MONOKAI, code_format=_TEMPLATE, unique_id=_ID)
    return "\n".join(line.rstrip() for line in svg.replace("TIMES", _times(delays)).splitlines()) + "\n"


def _timed(story: Sequence[Shown]) -> Iterator[tuple[float, Text]]:
    """Every part of the text, and when it appears."""
    now = _FIRST
    for each in story:
        yield now, Text.assemble(("$ ", "green"), (each.command, "bold"))
        now += _TYPING + min(each.seconds, _LONGEST)
        if each.printed.strip():
            yield now, Text.from_ansi(each.printed.rstrip())
        now += _TYPING


def _times(delays: Sequence[float]) -> str:
    return "\n".join(
        f'  text[clip-path="url(#{_ID}-line-{number})"] {{ animation: shown 1ms {delay:.1f}s backwards }}'
        for number, delay in enumerate(delays)
    )
