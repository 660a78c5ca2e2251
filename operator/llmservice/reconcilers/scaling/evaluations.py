"""The last look at each service that is scaled: read by the reconciler, by /explain and by /metrics."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from llmservice.autoscaling.decision import Decision, Reason
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.converging.scaled_pods import ScaledPod
from llmservice.converging.scaling_report import ScalingReport
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.scaling.pod_history import PodReadings
from llmservice.reconcilers.workers import ServiceKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One look: what was seen and decided `at` (seconds since 1970), and what is remembered after it."""

    at: float
    plan: ServicePlan
    policy: ScalingPolicy
    pods: tuple[ScaledPod, ...]
    readings: PodReadings
    snapshot: Snapshot
    decision: Decision
    memory: Memory

    @property
    def advise(self) -> bool:
        """Whether nothing is applied."""
        return self.plan.scaling is not None and self.plan.scaling.advise


@dataclass(slots=True)
class Record:
    """What others than the loop may know of one service. Counters run as long as this process leads.

    `look` is None while the service is suspended.
    """

    key: ServiceKey
    period_seconds: float
    report: ScalingReport | None = None
    look: Evaluation | None = None
    decisions: Counter[Reason] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Evaluations:
    """Records by UID. Written by the operator's loop, read from any thread: a record's parts are replaced whole."""

    _records: dict[str, Record] = field(default_factory=dict)

    def record(self, key: ServiceKey, uid: str, period_seconds: float) -> Record:
        """The record of a resource, made when there is none."""
        return self._records.setdefault(uid, Record(key, period_seconds))

    def report(self, uid: str) -> ScalingReport | None:
        """What the status is to say; None while the loop has not looked."""
        record = self._records.get(uid)
        return record.report if record else None

    def of(self, key: ServiceKey) -> Record | None:
        """The record by namespace and name."""
        return next((record for record in self if record.key == key), None)

    def forget(self, uid: str) -> None:
        """Drop what belongs to a resource that is gone or no longer scaled."""
        self._records.pop(uid, None)

    def clear(self) -> None:
        """Drop everything."""
        self._records.clear()

    def __iter__(self) -> Iterator[Record]:
        """Copied in one step, so that it may be walked while the loop works."""
        return iter([*self._records.values()])
