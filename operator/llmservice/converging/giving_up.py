"""When a change of the replicas has failed: none of them became ready in time, or they crash and no time helps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.progress import Progress, waiting_for
from llmservice.objects.pods import created_at, engine_of, has_started, is_living, is_ready
from llmservice.objects.references import Manifest

_RESTARTS = 3
"""Four starts failed: the kubelet has waited 10, 20 and 40 s between them, unless it is set up otherwise."""
_LEAST_SECONDS = 120.0
"""And never before this age of the pod."""
_UNCERTAIN_SECONDS = 600.0
"""The same where time may help: a crash that nobody can name may be an outage of what the engine loads from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`reason` and `message` when the change has failed; else None, and when to judge again where that is known."""

    reason: Reason | None = None
    message: str = ""
    again_seconds: float | None = None


GOES_ON = Verdict()


def judge(
    progress: Progress,
    updated: Sequence[Manifest],
    diagnosis: Diagnosis | None,
    now: datetime,
    late: Diagnosis | None = None,
) -> Verdict:
    """Whether a change that is being rolled out has failed.

    | replicas of the new template             | deadline | verdict                     |
    |------------------------------------------|----------|-----------------------------|
    | none wanted, or not begun                | any      | goes on                     |
    | one of them is ready                     | any      | goes on: it serves          |
    | none ready                               | passed   | failed                      |
    | none ready, and each has been loading    |          |                             |
    | for longer than the startup budget       | not yet  | failed                      |
    | none ready, crashed again and again,     |          |                             |
    | from a cause that no time removes        | not yet  | failed                      |
    | none ready                               | not yet  | goes on                     |

    `updated` are the pods of the new template, and `diagnosis` is theirs. `late` is what is said where each of them
    has used up the budget of its start.
    """
    if not progress.seen or not progress.desired or any(map(is_ready, updated)):
        return GOES_ON
    if progress.late:
        reason, message = _cause(progress, updated, diagnosis or late)
        return Verdict(reason=reason, message=message)
    if late is not None:
        cause = diagnosis or late
        return Verdict(reason=cause.reason, message=cause.message)
    return _judge_crashes(updated, diagnosis, now)


def _judge_crashes(updated: Sequence[Manifest], diagnosis: Diagnosis | None, now: datetime) -> Verdict:
    """Whether they crash again and again, from a cause that no time removes."""
    if diagnosis is None or diagnosis.self_healing:
        return GOES_ON
    ages = [_age(pod, now) for pod in updated if _crashes(pod)]
    if not ages:
        return GOES_ON
    left = (_UNCERTAIN_SECONDS if diagnosis.uncertain else _LEAST_SECONDS) - max(ages)
    if left > 0:
        return Verdict(again_seconds=left)
    return Verdict(reason=diagnosis.reason, message=diagnosis.message)


def _cause(progress: Progress, updated: Sequence[Manifest], diagnosis: Diagnosis | None) -> tuple[Reason, str]:
    if diagnosis is not None:
        return diagnosis.reason, diagnosis.message
    reason, _ = waiting_for(progress, updated)
    return reason, _TOO_LONG.get(reason, "the rollout went no further; see kubectl describe deployment")


_TOO_LONG = {
    Reason.LOADING: "the engine was still loading the model; raise spec.startup.timeoutSeconds if it needs longer",
    Reason.STARTING: "the pod was still starting (image, volumes, sidecars); see kubectl describe pod",
}
"""What a change is told to have waited for until its deadline, where nothing is wrong with its pods."""


def _crashes(pod: Manifest) -> bool:
    engine = engine_of(pod)
    return is_living(pod) and not has_started(engine) and int(engine.get("restartCount") or 0) >= _RESTARTS


def _age(pod: Manifest, now: datetime) -> float:
    """Seconds since the pod was created; 0 when that is not known."""
    created = created_at(pod)
    return (now - datetime.fromisoformat(created)).total_seconds() if created else 0.0
