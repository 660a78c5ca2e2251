"""Everything remembered of one scaled service while this process leads."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.deciding import decide
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.idling import Idleness, Rest, asleep, awake
from llmservice.autoscaling.memory import Demand, Memory
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.converging.checkpoints import digest_of, resumed
from llmservice.converging.idle_status import idleness_in
from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason
from llmservice.converging.scaling_report import ScalingReport, report_in
from llmservice.converging.startup_status import known_cold_start
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.scaling.evaluation import Evaluation
from llmservice.reconcilers.scaling.known_bounds import KnownBounds
from llmservice.reconcilers.scaling.metric_names_by_image import MetricNamesByImage
from llmservice.reconcilers.scaling.objective_counts import ObjectiveCounts
from llmservice.reconcilers.scaling.plan_cache import PlanCache
from llmservice.reconcilers.scaling.pod_history import PodHistory
from llmservice.reconcilers.scaling.status_throttle import StatusThrottle
from llmservice.reconcilers.scaling.written_replicas import WrittenReplicas
from llmservice.reconcilers.workers import ServiceKey

log = logging.getLogger(__name__)

_Key = TypeVar("_Key")
_Changes = tuple[tuple[float, int], ...]


@dataclass(slots=True, kw_only=True)
class ServiceState:
    """One service. Only the operator's loop writes; other threads read `key`, `report`, `evaluation` and the counts.

    | part                         | remembers                                                                 |
    |------------------------------|---------------------------------------------------------------------------|
    | `plans`, `metric_names`      | the plan of this generation; how the pods of each image name their metrics |
    | `history`                    | how far each pod was, its last counters                                   |
    | `memory`                     | what the law learned of replicas of this `digest`                         |
    | `throttle`                   | what the status says, and since when                                      |
    | `evaluation`                 | what was read and decided last; None while the service is suspended       |
    | `decisions`, `read_failures` | counts by reason, since this process leads                                |
    | `objective`                  | requests within and beyond it, since this process leads                   |
    | `truncated`                  | requests that ended with their engine; None before any pod could be read  |
    | `advised`                    | what mode Advise would run: its next decision goes on from there          |
    | `written`                    | the number written last, and who else wrote another one                   |
    | `bounds`                     | what holds by the schedules of this plan                                  |
    | `idleness`                   | of a service that may sleep: since when it is quiet, or sleeps            |
    | `start_seconds`              | what its last start took; None where that is not known                    |
    | `held`                       | requests that were held for it in the last round                          |
    | `wakes`, `passed_on`, `refused` | how often it was woken; held requests that were passed on, or refused   |
    """

    key: ServiceKey
    plans: PlanCache = field(default_factory=PlanCache)
    metric_names: MetricNamesByImage = field(default_factory=MetricNamesByImage)
    history: PodHistory = field(default_factory=PodHistory)
    memory: Memory = field(default_factory=Memory)
    digest: str = ""
    throttle: StatusThrottle = field(default_factory=StatusThrottle)
    evaluation: Evaluation | None = None
    decisions: Mapping[Reason, int] = field(default_factory=dict)
    read_failures: Mapping[ReadFailureReason, int] = field(default_factory=dict)
    objective: ObjectiveCounts = field(default_factory=ObjectiveCounts)
    truncated: int | None = None
    advised: int | None = None
    written: WrittenReplicas = field(default_factory=WrittenReplicas)
    bounds: KnownBounds = field(default_factory=KnownBounds)
    idleness: Idleness = field(default_factory=Idleness)
    start_seconds: float | None = None
    held: int = 0
    wakes: int = 0
    passed_on: int = 0
    refused: int = 0
    _plan: ServicePlan | None = None
    _changes_before: _Changes = ()
    _idleness_before: Idleness = field(default_factory=Idleness)

    @property
    def report(self) -> ScalingReport | None:
        """What the status is to say; None before the first round."""
        return self.throttle.reported

    @property
    def may_sleep(self) -> bool:
        """Whether its plan has times at which no replica need run."""
        return self._plan is not None and self._plan.may_sleep

    @property
    def rests(self) -> bool:
        """Whether it sleeps, or is to sleep as soon as requests are held."""
        return self.idleness.going or self.idleness.asleep_since is not None

    def adopt(self, plan: ServicePlan, status: Mapping[str, Any], now: float) -> None:
        """Decide by this plan from now on; the first time going on from what the status holds.

        What was learned of other replicas is void; what is known of the traffic is not. Until a start was measured, the
        next one is expected to take as long as the last one in `status.startup`.
        """
        before, digest = self._plan, self.digest
        if plan is before:
            return
        self._plan, self.digest = plan, digest_of(plan)
        if before is None:
            self._resume(report_in(status), known_cold_start(plan, status), now)
        elif self.digest != digest:
            self.memory = self.memory.of_other_replicas().expecting(known_cold_start(plan, status))
        elif before.scaling and plan.scaling and before.scaling.policy != plan.scaling.policy:
            self.memory = replace(self.memory, at=None)  # another law goes on from what runs

    def desired(self, deployment: Manifest, *, advise: bool) -> int:
        """The replicas asked for, from which the next decision goes on; in mode Advise as if advice were followed."""
        return self.advised if advise and self.advised is not None else self.written.live(deployment)

    def decide(
        self, policy: ScalingPolicy, snapshot: Snapshot, now: float, *, advise: bool, rest: Rest | None = None
    ) -> Decision:
        """The number for this snapshot, by what is remembered; and remember it. `rest` of one that may sleep."""
        self._changes_before, self._idleness_before = self.memory.stabilization.changes, self.idleness
        self.held = round(snapshot.gated)
        if rest is not None and (sleeping := asleep(rest, snapshot, self.idleness, now)) is not None:
            decision, self.idleness = sleeping
            return decision
        decision, self.memory = decide(policy, snapshot, self.memory, now)
        self.idleness = Idleness()
        if rest is not None:
            decision, self.idleness = awake(rest, snapshot, decision, self._idleness_before, now)
        self.advised = decision.replicas if advise else None
        return decision

    def expected(self) -> int | None:
        """The number that was decided last; None before the first decision."""
        return self.written.expected(self.report.replicas if self.report is not None else None)

    def has_not_applied(self) -> None:
        """A write failed: its step must not count against the next one."""
        stabilization = replace(self.memory.stabilization, changes=self._changes_before)
        self.memory = replace(self.memory, stabilization=stabilization)
        self.idleness = self._idleness_before

    def publish(self, evaluation: Evaluation) -> None:
        """Let others read this evaluation, and count it."""
        self.objective = self.objective.with_round(evaluation, self.evaluation)
        self.evaluation = evaluation
        failures = (item.reason for item in evaluation.readings.values() if isinstance(item, ReadFailure))
        self.decisions = _counted(self.decisions, [evaluation.decision.reason])
        self.read_failures = _counted(self.read_failures, failures)

    def _resume(self, reported: ScalingReport | None, cold_start_seconds: float | None, now: float) -> None:
        """Go on from the report in the status; a service whose checkpoint cannot be read keeps its number at first."""
        if reported is not None:
            memory = resumed(reported.checkpoint, self.digest)
            if memory is None:
                log.info(
                    "%s/%s: dropped a checkpoint that is damaged or of another version; learning starts anew", *self.key
                )
                memory = Memory(demand=Demand(known_before=True))
            self.memory, self.advised = memory, reported.advised
            self.idleness = idleness_in(reported.idle)
        self.memory = self.memory.expecting(cold_start_seconds)
        self.throttle = StatusThrottle(reported=reported, saved=self.memory, saved_at=now)


def _counted(counts: Mapping[_Key, int], items: Iterable[_Key]) -> Mapping[_Key, int]:
    """New counts, so that a reader in another thread never sees some that change."""
    counts = dict(counts)
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return counts
