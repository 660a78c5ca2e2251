"""What one round read and decided of a service, for /explain and /metrics."""

from dataclasses import dataclass

from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.schedules import Bounds
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.converging.pod_readings import PodReadings
from llmservice.converging.scaled_pods import ScaledPod
from llmservice.planning.service_plan import ServicePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What was read and decided `at` (seconds since 1970), and the memory after it. Nothing is decided from it."""

    at: float
    plan: ServicePlan
    policy: ScalingPolicy
    bounds: Bounds
    pods: tuple[ScaledPod, ...]
    readings: PodReadings
    snapshot: Snapshot
    decision: Decision
    memory: Memory

    @property
    def advise(self) -> bool:
        """Whether nothing is applied."""
        return self.plan.scaling is not None and self.plan.scaling.advise
