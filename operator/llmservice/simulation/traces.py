"""Recorded and made-up load: lists of arrivals, sorted by time."""

import csv
import datetime as dt
import math
import random
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from llmservice.errors import InvalidInput
from llmservice.simulation.request import Arrival

Stage = tuple[float, float]
"""Requests per second, and for how many seconds."""

_COLUMNS = (
    ("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
    ("arrival_seconds", "prompt_tokens", "output_tokens"),
)
"""The Azure 2023 LLM inference traces (github.com/Azure/AzurePublicDataset, CC-BY-4.0), and our own plain form."""


def read_trace(path: Path) -> list[Arrival]:
    """A CSV file with a time, prompt tokens and output tokens per request, as the Azure traces have it or in seconds.

    Times are moved so that the first request comes at 0. Raises InvalidInput naming the line. A byte order mark, with
    which Excel begins its UTF-8, is no part of the first name.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as lines:
            rows = csv.DictReader(lines)
            names = _columns(path, rows.fieldnames or ())
            arrivals = [_arrival(path, number, row, names) for number, row in enumerate(rows, start=2)]
    except UnicodeDecodeError as error:
        raise InvalidInput("UnreadableTrace", f"{path}: is not UTF-8: save it as CSV in UTF-8") from error
    except csv.Error as error:
        raise InvalidInput(
            "UnreadableTrace", f"{path}: is not CSV: {error}: look for a quote without its end"
        ) from error
    if not arrivals:
        raise InvalidInput("EmptyTrace", f"{path}: no request in it: one line per request after the header")
    arrivals.sort()
    start = arrivals[0].at
    return [arrival._replace(at=arrival.at - start) for arrival in arrivals]


def multiplied(arrivals: Sequence[Arrival], factor: float, *, seed: int = 0) -> list[Arrival]:
    """Every arrival `factor` times (the fraction by chance), clones within 2 s, sized like requests within a minute."""
    chance = random.Random(seed)  # noqa: S311  (a simulation repeats itself)
    made, first, last = list[Arrival](), 0, 0
    for arrival in arrivals:
        while arrivals[first].at < arrival.at - 60:
            first += 1
        while last < len(arrivals) and arrivals[last].at <= arrival.at + 60:
            last += 1
        for copy in range(int(factor) + (chance.random() < factor % 1)):
            if copy == 0:
                made.append(arrival)
            else:
                like = arrivals[chance.randrange(first, last)]
                made.append(like._replace(at=max(0.0, arrival.at + chance.uniform(-2, 2))))
    return sorted(made)


def warmed_up(arrivals: Sequence[Arrival], seconds: float, *, like_first: float = 300.0) -> list[Arrival]:
    """The trace after so many seconds of steady load, as dense and with requests as in its first `like_first` s.

    Raises InvalidInput when no request comes so early.
    """
    chance = random.Random(1)  # noqa: S311
    early = [arrival for arrival in arrivals if arrival.at < like_first]
    if not early:
        raise InvalidInput(
            "NothingToWarmUpWith",
            f"no request in the first {like_first:g} s to make a warm-up of: leave out --warm-up, or give more --times",
        )
    made, at = list[Arrival](), chance.expovariate(len(early) / like_first)
    while at < seconds:
        made.append(early[chance.randrange(len(early))]._replace(at=at))
        at += chance.expovariate(len(early) / like_first)
    return made + [arrival._replace(at=arrival.at + seconds) for arrival in arrivals]


def staged(stages: Iterable[Stage], *, prompt: int, output: int, seed: int | None = None) -> list[Arrival]:
    """Equal requests in stages of constant rate: evenly spaced, or by a Poisson process when a seed is given."""
    chance = None if seed is None else random.Random(seed)  # noqa: S311
    made, start = list[Arrival](), 0.0
    for rate, seconds in stages:
        at = start
        while True:
            at += chance.expovariate(rate) if chance else 1.0 / rate
            if at >= start + seconds:
                break
            made.append(Arrival(at, prompt, output))
        start += seconds
    return made


def piecewise(points: Sequence[tuple[float, float]], *, prompt: Stage, output: Stage, seed: int) -> list[Arrival]:
    """A Poisson process whose rate follows straight lines between (seconds, requests per second).

    `prompt` and `output` are mean and standard deviation of normally distributed sizes.
    """
    chance = random.Random(seed)  # noqa: S311
    made, at = list[Arrival](), 0.0
    while at < points[-1][0]:
        at += chance.expovariate(_rate(points, at))
        made.append(Arrival(at, max(16, int(chance.gauss(*prompt))), max(4, int(chance.gauss(*output)))))
    return made[:-1]


def _rate(points: Sequence[tuple[float, float]], at: float) -> float:
    (start, low), (end, high) = next(pair for pair in pairwise(points) if at < pair[1][0])
    return low + (high - low) * (at - start) / (end - start)


def _columns(path: Path, header: Sequence[str]) -> tuple[str, str, str]:
    for names in _COLUMNS:
        if set(names) <= set(header):
            return names
    wanted = " or ".join(",".join(names) for names in _COLUMNS)
    raise InvalidInput("UnknownTraceFormat", f"{path}: the first line must name the columns {wanted}")


def _arrival(path: Path, number: int, row: dict[str, str], names: tuple[str, str, str]) -> Arrival:
    time, prompt, output = (row[name] for name in names)
    try:
        at = float(time) if names[0] == "arrival_seconds" else _unix_seconds(time)
        if not math.isfinite(at):
            raise ValueError(time)  # noqa: TRY301  (said below, with the line)
        return Arrival(at, max(1, int(prompt)), max(1, int(output)))
    except (ValueError, TypeError) as error:
        raise InvalidInput("UnreadableTrace", f"{path}:{number}: {error}: give a time and two whole numbers") from error


def _unix_seconds(timestamp: str) -> float:
    """Any form of ISO 8601; in UTC, as Azure's 2023 traces are, where it names no offset."""
    moment = dt.datetime.fromisoformat(timestamp)
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()
