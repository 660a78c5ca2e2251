"""Figures of policies on loads, as bench_policies.py keeps them, and what they come to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Figures = dict[str, float]
"""attainment 0-1, replicas on average, replica_hours, reversals, hours."""

Played = dict[str, dict[str, dict[str, Figures]]]
"""Figures by policy, load and seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One policy on one load: means over seeds, and the worst attainment of them."""

    attainment: float
    worst: float
    replicas: float
    replica_hours: float
    reversals_per_hour: float


def cell_of(by_seed: Mapping[str, Figures]) -> Cell:
    """The mean over seeds."""
    seeds = list(by_seed.values())
    count = len(seeds)
    return Cell(
        attainment=sum(each["attainment"] for each in seeds) / count,
        worst=min(each["attainment"] for each in seeds),
        replicas=sum(each["replicas"] for each in seeds) / count,
        replica_hours=sum(each["replica_hours"] for each in seeds) / count,
        reversals_per_hour=sum(each["reversals"] for each in seeds) / sum(each["hours"] for each in seeds),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """One policy over a group of loads."""

    good: int
    loads: int
    mean: float
    worst: float
    worst_load: str
    replicas: float
    replica_hours: float
    reversals_per_hour: float


def sum_of(by_load: Mapping[str, Mapping[str, Figures]], loads: Sequence[str], goal: float = 0.99) -> Sum | None:
    """The policy over these loads; None where it was not played on all of them."""
    if not loads or not set(loads) <= by_load.keys():
        return None
    cells = {load: cell_of(by_load[load]) for load in loads}
    worst = min(loads, key=lambda load: cells[load].attainment)
    return Sum(
        good=sum(cell.attainment >= goal for cell in cells.values()),
        loads=len(loads),
        mean=sum(cell.attainment for cell in cells.values()) / len(loads),
        worst=cells[worst].attainment,
        worst_load=worst,
        replicas=sum(cell.replicas for cell in cells.values()),
        replica_hours=sum(cell.replica_hours for cell in cells.values()),
        reversals_per_hour=sum(cell.reversals_per_hour for cell in cells.values()) / len(loads),
    )


def chosen(candidates: Played, kind: str, mean: float = 0.95) -> tuple[str, str]:
    """A careful and a cheap setting of this kind.

    The careful one attains .99 on most loads, and needs the fewest replicas among those that do on as many. The cheap
    one needs the fewest among those that attain `mean` on the mean of loads; where none does, it attains most.
    """
    totals = {}
    for name, by_load in candidates.items():
        total = sum_of(by_load, tuple(by_load))
        if total is not None and name.startswith(f"{kind}:"):
            totals[name] = total
    careful = max(totals, key=lambda name: (totals[name].good, -totals[name].replicas))
    return careful, max(totals, key=lambda name: (min(mean, totals[name].mean), -totals[name].replicas))
