"""What the status says of the autoscaler: `status.autoscaling`, two conditions, and which changes of them matter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.schedules import Bounds
from llmservice.converging.conditions import Condition, condition_in, timestamp
from llmservice.converging.idle_status import idle_gist
from llmservice.converging.pod_readings import PodReadings, ReadFailure
from llmservice.converging.scaled_pods import PodPhase, ScaledPod

SCALING_CONDITIONS = (ConditionType.SCALING_ACTIVE, ConditionType.METRICS_AVAILABLE)

_UNDECIDED = frozenset({Reason.NO_FRESH_READINGS, Reason.PODS_PENDING, Reason.SIGNAL_MISSING})
"""Reasons for which replicas do not follow the load."""

_RESTING = frozenset({Reason.IDLE, Reason.ASLEEP})
"""Decisions that no replica is to run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingReport:
    """The autoscaler's part of the status. Empty texts and None are left out.

    `replicas` is what was decided last, `advised` the same where nothing is applied. `decided_at` is RFC 3339.
    `read_failures` are the reasons why ready replicas cannot be read, each once and sorted. `schedule` is
    `status.autoscaling.schedule`, `idle` is `status.autoscaling.idle`.
    """

    replicas: int | None = None
    advised: int | None = None
    reason: str = ""
    message: str = ""
    decided_at: str = ""
    checkpoint: str = ""
    read_failures: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    schedule: Mapping[str, Any] | None = None
    idle: Mapping[str, Any] | None = None

    def as_status(self) -> dict[str, Any]:
        """`status.autoscaling`."""
        fields = {
            "replicas": self.replicas,
            "advisedReplicas": self.advised,
            "reason": self.reason or None,
            "message": self.message or None,
            "decidedAt": self.decided_at or None,
            "checkpoint": self.checkpoint or None,
            "readFailures": [*self.read_failures] or None,
            "schedule": self.schedule,
            "idle": self.idle,
        }
        return {key: value for key, value in fields.items() if value is not None}

    def differs_from(self, other: "ScalingReport") -> bool:
        """Whether a condition is another one or has another reason, or replicas cannot be read for other reasons.

        Of what is True only one reason asks for something (AtMaximum): the others follow each other by the minute.
        """
        return _gist_of(self) != _gist_of(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one round found of a service.

    `ready` counts the pods that take requests; `unreadable` are those of them that could not be read, by name, and why.
    `scheduler_messages` say why pods are unschedulable.
    """

    decision: Decision
    advise: bool
    ready: int
    unreadable: Mapping[str, ReadFailure]
    scheduler_messages: tuple[str, ...] = ()


def finding_of(decision: Decision, pods: Sequence[ScaledPod], readings: PodReadings, *, advise: bool) -> Finding:
    """The finding of a round in which this was read and decided."""
    return Finding(
        decision=decision,
        advise=advise,
        ready=sum(pod.phase is PodPhase.READY for pod in pods),
        unreadable={name: outcome for name, outcome in readings.items() if isinstance(outcome, ReadFailure)},
        scheduler_messages=tuple(pod.scheduler_message for pod in pods if pod.scheduler_message),
    )


def report_of(
    finding: Finding, decided_at: str, bounds: Bounds | None = None, idle: Mapping[str, Any] | None = None
) -> ScalingReport:
    """What the status is to say of a finding, without a checkpoint.

    `bounds` only where there are schedules, `idle` only of a service that may sleep.
    """
    decision = finding.decision
    return ScalingReport(
        replicas=None if finding.advise else decision.replicas,
        advised=decision.replicas if finding.advise else None,
        reason=str(decision.reason),
        message=decision.message,
        decided_at=decided_at,
        read_failures=tuple(sorted({str(failure.reason) for failure in finding.unreadable.values()})),
        conditions=(_scaling_active(finding), _metrics_available(finding)),
        schedule=None if bounds is None else schedule_status(bounds),
        idle=idle,
    )


def schedule_status(bounds: Bounds) -> dict[str, Any]:
    """`status.autoscaling.schedule`."""
    until = None if bounds.until is None else timestamp(datetime.fromtimestamp(bounds.until, UTC))
    fields = {
        "name": bounds.schedule or None,
        "minReplicas": bounds.minimum,
        "maxReplicas": bounds.maximum,
        "until": until,
        "following": bounds.following or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def suspended_report(last: ScalingReport | None) -> ScalingReport:
    """What the status is to say while the resource is suspended: what was decided before stays."""
    condition = Condition(
        type=ConditionType.SCALING_ACTIVE,
        status=False,
        reason=Reason.SUSPENDED,
        message="suspended: nothing is scaled; set spec.suspend to false to serve again",
    )
    return replace(last or ScalingReport(), read_failures=(), conditions=(condition,))


def report_in(status: Mapping[str, Any]) -> ScalingReport | None:
    """The report that a status holds; None where it holds none. Reasons of a newer operator are left out."""
    said = status.get("autoscaling")
    if not said:
        return None
    found = (condition_in(status, kind) for kind in SCALING_CONDITIONS)
    return ScalingReport(
        replicas=said.get("replicas"),
        advised=said.get("advisedReplicas"),
        reason=said.get("reason", ""),
        message=said.get("message", ""),
        decided_at=said.get("decidedAt", ""),
        checkpoint=said.get("checkpoint", ""),
        read_failures=tuple(said.get("readFailures") or ()),
        schedule=said.get("schedule"),
        idle=said.get("idle"),
        conditions=tuple(_read(item) for item in found if item.get("reason") in set(Reason)),
    )


def new_problem(before: ScalingReport | None, after: ScalingReport) -> Condition | None:
    """The condition that went False, or got another reason for it, and is worth a warning; None where none is."""
    known = {(item.type, item.reason) for item in before.conditions if not item.status} if before else set()
    for item in after.conditions:
        if not item.status and item.reason is not Reason.ADVISE_ONLY and (item.type, item.reason) not in known:
            return item
    return None


def _scaling_active(finding: Finding) -> Condition:
    """Whether replicas follow the load.

    | decision                                    | ScalingActive               |
    |---------------------------------------------|-----------------------------|
    | of mode Advise                              | False, AdviseOnly           |
    | NoFreshReadings, PodsPending, SignalMissing | False, the same             |
    | any other                                   | True, the decision's reason |
    """
    decision = finding.decision
    if finding.advise:
        message = f"{decision.message}; nothing is applied: set spec.autoscaling.mode to Active to let it be"
        return _condition(ConditionType.SCALING_ACTIVE, Reason.ADVISE_ONLY, message)
    if decision.reason in _UNDECIDED:
        message = "; ".join((decision.message, *finding.scheduler_messages[:1]))
        return _condition(ConditionType.SCALING_ACTIVE, decision.reason, message)
    return _condition(ConditionType.SCALING_ACTIVE, decision.reason, decision.message, status=True)


def _metrics_available(finding: Finding) -> Condition:
    kind, unreadable = ConditionType.METRICS_AVAILABLE, finding.unreadable
    if finding.decision.reason in _RESTING:
        return _condition(kind, Reason.ASLEEP, "it sleeps: there is no replica to read", status=True)
    if not finding.ready:
        return _condition(kind, Reason.NO_REPLICA_READY, "no replica is ready to be read: see condition Ready")
    if unreadable:
        reason = Reason.NO_FRESH_READINGS if len(unreadable) == finding.ready else Reason.PARTIAL_READINGS
        return _condition(kind, reason, _failures_text(unreadable, finding.ready))
    return _condition(kind, Reason.METRICS_READ, "every ready replica is read", status=True)


def _failures_text(unreadable: Mapping[str, ReadFailure], ready: int) -> str:
    """How many cannot be read, and for each reason one of them with the remedy: each reason asks for another one."""
    examples: dict[str, str] = {}
    for pod, failure in sorted(unreadable.items()):
        examples.setdefault(failure.reason, f"{pod}: {failure.reason}: {failure.message}")
    return "; ".join((f"{len(unreadable)} of {ready} ready replicas cannot be read", *examples.values()))


def _condition(kind: ConditionType, reason: Reason, message: str, *, status: bool = False) -> Condition:
    return Condition(type=kind, status=status, reason=reason, message=message)


def _gist_of(report: ScalingReport) -> tuple[object, ...]:
    return _gist(report.conditions), report.read_failures, report.schedule, idle_gist(report.idle)


def _gist(conditions: tuple[Condition, ...]) -> set[tuple[str, bool | None, str]]:
    return {
        (item.type, item.status, "" if item.status and item.reason is not Reason.AT_MAXIMUM else item.reason)
        for item in conditions
    }


def _read(item: Mapping[str, Any]) -> Condition:
    return _condition(
        ConditionType(item["type"]), Reason(item["reason"]), item["message"], status=item["status"] == "True"
    )
