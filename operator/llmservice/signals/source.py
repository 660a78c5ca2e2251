"""What every source of readings gives: for each target a Reading, or why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from llmservice.converging.pod_readings import ReadFailure, Reading
from llmservice.engines.metric_names import MetricNames


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One ready pod to read. `address` is its IP, without the port; `metric_names` are those of its engine version."""

    namespace: str
    service: str
    pod: str
    address: str
    port: int
    metric_names: MetricNames


class Source(Protocol):
    """Somewhere readings come from."""

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        """A Reading or a ReadFailure for each target, in bounded time; what a target or server does never raises."""
        ...
