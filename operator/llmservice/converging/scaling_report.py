"""What the status says of the autoscaler: `status.autoscaling`, two conditions, and which changes of them are news."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.autoscaling import decision as decided
from llmservice.autoscaling.decision import Decision
from llmservice.converging.conditions import Condition, condition_in
from llmservice.converging.redaction import LONGEST_TEXT
from llmservice.untrusted.patterns import finder

SCALING_CONDITIONS = (ConditionType.SCALING_ACTIVE, ConditionType.METRICS_AVAILABLE)

_UNDECIDED = {
    decided.Reason.NO_FRESH_READINGS: Reason.NO_FRESH_READINGS,
    decided.Reason.PODS_PENDING: Reason.PODS_PENDING,
    decided.Reason.SIGNAL_MISSING: Reason.SIGNAL_MISSING,
}
"""Reasons for which replicas do not follow the load."""

_CAUSE = finder(r"; \S+: (?P<cause>\w+): ")
"""Where the message on unread replicas names a cause: after the pod, as `_silence` writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingReport:
    """The autoscaler's part of the status. Empty texts and None are left out.

    `replicas` is what was decided last, `advised` the same where nothing is applied. `decided_at` is RFC 3339.
    """

    replicas: int | None = None
    advised: int | None = None
    reason: str = ""
    message: str = ""
    decided_at: str = ""
    checkpoint: str = ""
    conditions: tuple[Condition, ...] = ()

    def as_status(self) -> dict[str, Any]:
        """`status.autoscaling`."""
        fields = {
            "replicas": self.replicas,
            "advisedReplicas": self.advised,
            "reason": self.reason or None,
            "message": self.message or None,
            "decidedAt": self.decided_at or None,
            "checkpoint": self.checkpoint or None,
        }
        return {key: value for key, value in fields.items() if value is not None}

    def says_else(self, other: "ScalingReport") -> bool:
        """Whether a condition is another one, has another reason, or replicas are unread for another cause.

        What merely explains a True is no news.
        """
        return _gist(self.conditions) != _gist(other.conditions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One look at a service that is scaled.

    `silent` maps each ready pod that could not be read to the cause and its remedy, `obstacles` are the scheduler's
    words on pods without a place. `ready` counts the pods that take requests.
    """

    decision: Decision
    advise: bool
    ready: int
    silent: Mapping[str, str]
    obstacles: tuple[str, ...] = ()


def report_of(finding: Finding, decided_at: str) -> ScalingReport:
    """What to tell of a look, without a checkpoint."""
    decision = finding.decision
    return ScalingReport(
        replicas=None if finding.advise else decision.replicas,
        advised=decision.replicas if finding.advise else None,
        reason=str(decision.reason),
        message=decision.message,
        decided_at=decided_at,
        conditions=(_scaling_active(finding), _metrics_available(finding)),
    )


def suspended_report(last: ScalingReport | None) -> ScalingReport:
    """What to tell while the resource is suspended: what was decided before stays."""
    condition = Condition(
        type=ConditionType.SCALING_ACTIVE,
        status=False,
        reason=Reason.SUSPENDED,
        message="suspended: nothing is scaled; set spec.suspend to false to serve again",
    )
    last = last or ScalingReport()
    return ScalingReport(
        replicas=last.replicas,
        advised=last.advised,
        reason=last.reason,
        message=last.message,
        decided_at=last.decided_at,
        checkpoint=last.checkpoint,
        conditions=(condition,),
    )


def report_in(status: Mapping[str, Any]) -> ScalingReport | None:
    """The report that a status holds; None where it holds none. Reasons of a newer operator are left out."""
    told = status.get("autoscaling")
    if not told:
        return None
    found = (condition_in(status, kind) for kind in SCALING_CONDITIONS)
    return ScalingReport(
        replicas=told.get("replicas"),
        advised=told.get("advisedReplicas"),
        reason=told.get("reason", ""),
        message=told.get("message", ""),
        decided_at=told.get("decidedAt", ""),
        checkpoint=told.get("checkpoint", ""),
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
        message = "; ".join((decision.message, *finding.obstacles[:1]))
        return _condition(ConditionType.SCALING_ACTIVE, _UNDECIDED[decision.reason], message)
    return _condition(ConditionType.SCALING_ACTIVE, Reason(str(decision.reason)), decision.message, status=True)


def _metrics_available(finding: Finding) -> Condition:
    kind, silent = ConditionType.METRICS_AVAILABLE, finding.silent
    if not finding.ready:
        return _condition(kind, Reason.NO_REPLICA_READY, "no replica is ready to be read: see condition Ready")
    if silent:
        reason = Reason.NO_FRESH_READINGS if len(silent) == finding.ready else Reason.PARTIAL_READINGS
        return _condition(kind, reason, _silence(silent, finding.ready))
    return _condition(kind, Reason.METRICS_READ, "every ready replica is read", status=True)


def _silence(silent: Mapping[str, str], ready: int) -> str:
    """How many cannot be read, and for each cause one of them with the remedy: each cause asks for another one."""
    examples: dict[str, str] = {}
    for pod, why in sorted(silent.items()):
        examples.setdefault(why.partition(":")[0], f"{pod}: {why}")
    return "; ".join((f"{len(silent)} of {ready} ready replicas cannot be read", *examples.values()))


def _condition(kind: ConditionType, reason: Reason, message: str, *, status: bool = False) -> Condition:
    return Condition(type=kind, status=status, reason=reason, message=message)


def _gist(conditions: tuple[Condition, ...]) -> set[tuple[str, bool, str, frozenset[str]]]:
    """Of a True only the one reason that asks for something counts: the others follow each other by the minute."""
    return {
        (
            item.type,
            item.status,
            "" if item.status and item.reason is not Reason.AT_MAXIMUM else item.reason,
            _causes(item),
        )
        for item in conditions
    }


def _causes(item: Condition) -> frozenset[str]:
    """Why replicas are unread. Taken from the message, which is all that a new leader finds of it."""
    unread = item.type is ConditionType.METRICS_AVAILABLE and not item.status
    return frozenset(match["cause"] for match in _CAUSE.each(item.message[:LONGEST_TEXT])) if unread else frozenset()


def _read(item: Mapping[str, Any]) -> Condition:
    return _condition(
        ConditionType(item["type"]), Reason(item["reason"]), item["message"], status=item["status"] == "True"
    )
