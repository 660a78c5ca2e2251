"""What is told of replicas that run while their service waits, or is refused."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from llmservice.converging.conditions import Condition, conditions_to_write
from llmservice.converging.scaling_report import ScalingReport


def with_replicas_told(
    status: Mapping[str, Any],
    before: Mapping[str, Any],
    engine: Condition | None,
    scaling: ScalingReport | None,
    now: datetime,
) -> dict[str, Any]:
    """The status of such a service, with what engines do and what the autoscaler decides meanwhile.

    `before` is the status as it stands: a condition that stays as it was keeps its time.
    """
    told, generation = [*_told(engine, scaling)], status["observedGeneration"]
    written = {
        item["type"]: item for item in conditions_to_write(told, before.get("conditions") or (), generation, now)
    }
    others = [item for item in status["conditions"] if item["type"] not in written]
    facts = {"autoscaling": scaling.as_status()} if scaling else {}
    return {**status, **facts, "conditions": [*others, *written.values()]}


def _told(engine: Condition | None, scaling: ScalingReport | None) -> Iterator[Condition]:
    if engine is not None:
        yield engine
    if scaling is not None:
        yield from scaling.conditions
