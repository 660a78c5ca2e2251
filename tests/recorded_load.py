"""A recorded run of what the autoscaler saw: pods and their metrics at each look; kept as JSON, replayed by tests."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from llmservice.autoscaling.deciding import decide
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.converging.pod_readings import ReadFailure, Reading
from llmservice.converging.scaled_pods import PodPhase, ScaledPod
from llmservice.engines.metric_names import MetricNames
from llmservice.reconcilers.scaling.pod_history import PodHistory
from llmservice.signals.exposition import scan
from llmservice.signals.samples import reading_from, wanted


@dataclass(frozen=True, slots=True)
class RecordedLook:
    """One look: seconds since 1970, replicas asked for, the pods, and what /metrics of each ready one said."""

    at: float
    asked: int
    pods: tuple[ScaledPod, ...]
    pages: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "at": self.at,
            "asked": self.asked,
            "pods": [asdict(pod) for pod in self.pods],
            "pages": dict(self.pages),
        }

    @classmethod
    def of_json(cls, raw: Mapping[str, Any]) -> Self:
        """Back from JSON."""
        pods = tuple(ScaledPod(**{**pod, "phase": PodPhase(pod["phase"])}) for pod in raw["pods"])
        return cls(at=raw["at"], asked=raw["asked"], pods=pods, pages=raw["pages"])


def save(path: Path, looks: list[RecordedLook]) -> None:
    """Keep a run; only the lines of the metrics matter, so that it stays small."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps([look.as_json() for look in looks]).encode(), mtime=0))


def load(path: Path) -> list[RecordedLook]:
    """A run that was kept."""
    return [RecordedLook.of_json(raw) for raw in json.loads(gzip.decompress(path.read_bytes()))]


def decisions(looks: list[RecordedLook], policy: ScalingPolicy, metric_names: MetricNames) -> Iterator[Decision]:
    """What the operator decides from a run, look by look."""
    history, memory = PodHistory(), Memory()
    for look in looks:
        readings: dict[str, Reading | ReadFailure] = {
            pod: reading_from(scan(page.encode(), wanted(metric_names)), metric_names, look.at)
            for pod, page in look.pages.items()
        }
        snapshot = history.snapshot(look.pods, readings, look.asked, policy.objective, look.at)
        decision, memory = decide(policy, snapshot, memory, look.at)
        yield decision
