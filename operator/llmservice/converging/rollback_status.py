"""What the status says of revisions: which one served last, which one failed, and that the replicas went back."""

from collections.abc import Sequence
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.progress import Progress, waiting_for
from llmservice.converging.revisions import Failed, InForce, Served
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan

_LONGEST_MESSAGE = 600
"""Of a failure that is told beside something else: a condition has 1024 characters."""


def revisions_status(force: InForce | None, rolled_out: str | None) -> dict[str, Any]:
    """The part of `status.rollout` about revisions.

    `rolled_out` is the digest of what the replicas are made from if they are the newest revision's and serve: empty
    where that is not kept. None where they are not, or do not serve: then what served before is still remembered.
    """
    if force is None:
        return {}
    newest = Served(generation=force.generation, digest=rolled_out) if rolled_out else None
    served = force.served if rolled_out is None else newest
    return {
        **({"served": served.as_status()} if served else {}),
        **({"failed": force.failed.as_status()} if force.failed else {}),
    }


def waiting_status(waiting: ServicePlan | None) -> dict[str, Any]:
    """The part of `status.rollout` about a revision that must wait; empty where none does."""
    return {"waiting": {"generation": waiting.owner.generation, "facts": waiting.facts}} if waiting else {}


def returned(force: InForce, told: str) -> tuple[bool, Reason, str]:
    """Ready, of replicas that went back and serve. `told` says how many of them."""
    message = f"{told}, from generation {force.generation}, because {_failure(force)}; any edit of the spec is tried"
    return True, Reason.ROLLED_BACK, message


def returning(
    force: InForce, progress: Progress, pods: Sequence[Manifest], diagnosis: Diagnosis | None
) -> tuple[bool, Reason, str]:
    """Ready, while the replicas go back and are not ready yet. `pods` and `diagnosis` are those of what returns."""
    generation = _served_generation(force)
    if force.source and diagnosis is not None:
        message = f"generation {generation} does not start again: {diagnosis.message}; {_failure(force)}"
        return False, diagnosis.reason, message
    reason, waits = waiting_for(progress, pods) if force.source else (Reason.PROGRESSING, "wait")
    return False, reason, f"the replicas return to generation {generation}: {waits}; {_failure(force)}"


def given_up(force: InForce, failed: Failed) -> Condition:
    """Stalled: what was asked for last does not serve, whatever serves in its place."""
    message = (
        f"generation {failed.generation} did not become ready and is rolled back to generation "
        f"{_served_generation(force)}: {failed.message}"
    )
    return Condition(type=ConditionType.STALLED, status=True, reason=Reason(failed.reason), message=message)


def _served_generation(force: InForce) -> int:
    return force.served.generation if force.served else force.generation


def _failure(force: InForce) -> str:
    failed = force.failed
    if failed is None:
        return ""
    return f"generation {failed.generation} failed ({failed.reason}: {failed.message[:_LONGEST_MESSAGE]})"
