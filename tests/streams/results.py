"""The figures of each disturbance, as the table that stands in docs/reference/streams.md."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.marked_table import put
from tests.streams.audience import Audience
from tests.streams.stream import Ending

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "streams.md"
_HEAD = (
    "| disturbance | long streams in flight | streams begun | truncated | refused "
    "| longest silence in a stream, s | longest wait for the first token, s |"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One disturbance: `in_flight` long streams when it began, and what became of all that began until its end."""

    disturbance: str
    in_flight: int
    begun: int
    truncated: int
    refused: int
    longest_gap: float
    longest_wait: float

    def __str__(self) -> str:
        return (
            f"| {self.disturbance} | {self.in_flight} | {self.begun} | {self.truncated} | {self.refused} "
            f"| {self.longest_gap:.1f} | {self.longest_wait:.1f} |"
        )


def row_of(disturbance: str, in_flight: int, audience: Audience) -> Row:
    """The figures of an audience that has gone."""
    streams = audience.streams
    return Row(
        disturbance=disturbance,
        in_flight=in_flight,
        begun=len(streams),
        truncated=len(audience.ended(Ending.TRUNCATED)),
        refused=len(audience.ended(Ending.REFUSED)),
        longest_gap=max((stream.gap for stream in streams), default=0.0),
        longest_wait=max((stream.first - stream.sent for stream in streams if stream.first), default=0.0),
    )


def table(rows: Iterable[Row]) -> str:
    """One line for each disturbance, in the order of the tests."""
    return "\n".join([_HEAD, "|---|--:|--:|--:|--:|--:|--:|", *map(str, rows), ""])


def write(rows: Iterable[Row], page: Path = PAGE) -> None:
    """Put the table into the page."""
    put(page, "streams", table(rows))
