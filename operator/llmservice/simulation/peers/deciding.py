"""A peer's number as a decision of ours, so that one replay plays both."""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision


def decided(before: int, replicas: int, why: str) -> Decision:
    """The decision for so many replicas, with the numbers behind it."""
    if replicas == before:
        return Decision(replicas=replicas, reason=Reason.STEADY, message=f"{replicas}: {why}")
    reason = Reason.LOAD_ROSE if replicas > before else Reason.LOAD_FELL
    return Decision(replicas=replicas, reason=reason, message=f"{before} → {replicas}: {why}")
