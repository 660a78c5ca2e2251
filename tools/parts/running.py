"""Stages of parts, one after the other: those of a stage run side by side."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.parts.part import Part

_LOOK_SECONDS = 0.2
_SIGN_OF_LIFE_SECONDS = 30.0

Say = Callable[[str], None]


def run_stages(stages: Sequence[Sequence[str]], folder: Path, say: Say, make: Sequence[str] = ("make",)) -> list[str]:
    """Run them up to the first stage with a failure; returns the names of what failed. `folder` is for the logs.

    Ctrl-C goes on to every part, and nothing of them lives when KeyboardInterrupt comes out of here.
    """
    for stage in stages:
        parts: list[Part] = []
        say(f"── {', '.join(stage)}")
        try:
            parts.extend(Part.start(name, folder, make) for name in stage)
            _wait(parts, say)
        except KeyboardInterrupt:
            _interrupt(parts, say)
            raise
        if failed := [part for part in parts if not part.passed]:
            for part in failed:
                _show_trouble(part, say)
            return [part.name for part in failed]
    return []


def _wait(parts: Sequence[Part], say: Say) -> None:
    running, spoken = list(parts), time.monotonic()
    while running:
        time.sleep(_LOOK_SECONDS)
        for part in [part for part in running if part.has_ended()]:
            running.remove(part)
            say(_result(part))
            spoken = time.monotonic()
        if running and time.monotonic() - spoken > _SIGN_OF_LIFE_SECONDS:
            say(f"   … {', '.join(f'{part.name} {part.progress()}'.strip() for part in running)}")
            spoken = time.monotonic()


def _result(part: Part) -> str:
    words = "; ".join(part.summaries())
    return f"   {part.name}: {part.seconds:.0f} s{'' if part.passed else ', FAILED'}{f' ({words})' if words else ''}"


def _show_trouble(part: Part, say: Say) -> None:
    say("\n".join(["", f"── {part.name} failed:", *part.trouble(), ""]))
    say(f"{part.name} failed. Again: make {part.name}   All it said: {part.log}")


def _interrupt(parts: Sequence[Part], say: Say) -> None:
    """Twice, when nobody wants to wait for what they clean up."""
    say("\nstopping …")
    for part in parts:
        part.interrupt()
    try:
        for part in parts:
            part.end()
    except KeyboardInterrupt:
        for part in parts:
            part.end(seconds=0)
        raise
