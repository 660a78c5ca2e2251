"""The figures of each attack, as the table that stands in docs/reference/reliability.md."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.marked_table import put

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "reliability.md"
_HEAD = (
    "| what a tenant does | Deployment of another tenant, longest s (of) | `/healthz`, longest s | RSS, most MiB "
    "| descriptors, most | threads, most | one call to the API server, longest s |"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One attack: `waits` resources of another tenant and the longest of the waits, in seconds, and the costs."""

    attack: str
    waits: int
    longest_wait: float
    longest_probe: float
    rss_mib: float
    descriptors: int
    threads: int
    longest_call: float

    def __str__(self) -> str:
        return (
            f"| {self.attack} | {self.longest_wait:.1f} ({self.waits}) | {self.longest_probe:.2f} | "
            f"{self.rss_mib:.0f} | {self.descriptors} | {self.threads} | {self.longest_call:.1f} |"
        )


def table(rows: Iterable[Row]) -> str:
    """One line for each attack, in the order of the tests."""
    return "\n".join([_HEAD, "|---|--:|--:|--:|--:|--:|--:|", *map(str, rows), ""])


def write(rows: Iterable[Row], page: Path = PAGE) -> None:
    """Put the table into the page."""
    put(page, "hostile tenants", table(rows))
