"""Ready, Available, Reconciling and Stalled of a resource whose plan is in force, and why."""

from datetime import datetime

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.accelerator_in_use import blocks_ready
from llmservice.converging.conditions import Condition, condition_in
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.idle_status import asleep_message
from llmservice.converging.progress import Progress, how_many, rolled_out, waiting_for
from llmservice.converging.rollback_status import given_up, returned, returning
from llmservice.converging.situation import Situation
from llmservice.converging.startup_budget import how_to_wait
from llmservice.objects.pods import stays_on
from llmservice.planning.service_plan import ServicePlan

_IDLE = frozenset({Reason.ACCELERATOR_NOT_USED, Reason.ACCELERATOR_PARTLY_USED})
"""Why replicas that serve are not Ready: no time helps."""
_EMPTIED = frozenset({Reason.SUSPENDED, Reason.SCALED_TO_ZERO, Reason.ASLEEP})
"""Why nothing serves where nothing is to serve."""


def progress_conditions(situation: Situation, now: datetime) -> list[Condition]:
    """Ready and Available, and Reconciling or Stalled where replicas are not as the resource asks."""
    progress, diagnosis = situation.progress, situation.diagnosis
    ready, reason, message = _readiness(situation, now)
    conditions = [
        Condition(type=ConditionType.READY, status=ready, reason=reason, message=message),
        availability(progress.ready, reason, message),
    ]
    revision = situation.revision
    if revision and revision.failed and not (ready and reason in _EMPTIED):
        return [*conditions, given_up(revision, revision.failed)]
    waiting = situation.rollout.conditions if situation.rollout else []
    if waiting or ready or was_rolled_out(situation):
        return [*conditions, *waiting]
    overdue = progress.late and diagnosis is not None and not diagnosis.self_healing
    if reason in _IDLE or situation.hopeless or overdue:
        return [*conditions, Condition(type=ConditionType.STALLED, status=True, reason=reason, message=message)]
    return [*conditions, Condition(type=ConditionType.RECONCILING, status=True, reason=reason, message=message)]


def seconds_to_pass(diagnosis: Diagnosis | None, now: datetime) -> float:
    """Seconds for which a diagnosis still counts as part of a normal start; 0 afterwards, or when it never is.

    Until then the reason is Starting, which makes no Event; the message names the cause from the beginning.
    """
    if diagnosis is None or not diagnosis.since:
        return 0.0
    age = (now - datetime.fromisoformat(diagnosis.since)).total_seconds()
    return diagnosis.startup_grace_seconds - age if 0 <= age < diagnosis.startup_grace_seconds else 0.0


def was_rolled_out(situation: Situation) -> bool:
    """Whether this generation was rolled out before: a later crash is no new rollout.

    One that was edited while it had no replica was not, although it was as declared: nothing of the edit ran.
    """
    before, generation = situation.before, situation.plan.owner.generation
    ready = condition_in(before, ConditionType.READY)
    if before.get("observedGeneration") != generation or not ready:
        return False
    served = (before.get("rollout") or {}).get("served") or {}
    if ready.get("reason") in _EMPTIED and served.get("generation") != generation:
        return False
    unfinished = (ConditionType.RECONCILING, ConditionType.STALLED)
    return not any(condition_in(before, kind).get("status") == "True" for kind in unfinished)


def availability(ready: int, reason: Reason, message: str) -> Condition:
    """Available, by the number of ready replicas; reason and message say why there are none."""
    if ready:
        text = f"{ready} ready endpoint{'s' if ready > 1 else ''}"
        return Condition(type=ConditionType.AVAILABLE, status=True, reason=Reason.READY, message=text)
    return Condition(type=ConditionType.AVAILABLE, status=False, reason=reason, message=message)


def url_of(plan: ServicePlan) -> str:
    """The OpenAI base URL inside the cluster."""
    return f"http://{plan.owner.name}.{plan.owner.namespace}.svc/v1"


def _readiness(situation: Situation, now: datetime) -> tuple[bool, Reason, str]:
    progress, contest = situation.progress, _contest(situation)
    if situation.suspended:
        return _emptied(situation, Reason.SUSPENDED, "suspended; set spec.suspend to false to serve again")
    if progress.seen and progress.desired == 0 and situation.floor == 0 and situation.plan.may_sleep:
        return _asleep(situation)
    if progress.seen and progress.desired == 0 and situation.floor == 0:
        return _emptied(situation, Reason.SCALED_TO_ZERO, "scaled to zero; raise the replicas to serve again")
    if rolled_out(progress, situation.floor):
        return _served(situation, contest)
    return _not_rolled_out(situation, contest, now)


def _not_rolled_out(situation: Situation, contest: str, now: datetime) -> tuple[bool, Reason, str]:
    revision, diagnosis = situation.revision, situation.diagnosis
    if revision is not None and revision.failed:
        return returning(revision, situation.progress, situation.pods, diagnosis)
    if diagnosis is not None:
        passing = seconds_to_pass(diagnosis, now) > 0
        return False, Reason.STARTING if passing else diagnosis.reason, diagnosis.message
    if contest:
        return False, Reason.CONTESTED, contest
    return (False, *_waiting(situation, now))


def _waiting(situation: Situation, now: datetime) -> tuple[Reason, str]:
    """Of a workload of which nothing is wrong: what it waits for."""
    progress, pulls = situation.progress, situation.pulling
    if pulls:
        return Reason.PULLING, f"{how_many(progress)}; {pulls}: wait"
    then = how_to_wait(situation.plan, situation.pods, {"startup": situation.startup}, now)
    return waiting_for(progress, situation.pods, then)


def _served(situation: Situation, contest: str) -> tuple[bool, Reason, str]:
    """Of a workload that is rolled out: ready, unless its engines leave their devices idle."""
    plan, progress, accelerator = situation.plan, situation.progress, situation.accelerator
    if accelerator is not None and blocks_ready(accelerator, verify=plan.verify_devices):
        return False, accelerator.reason, accelerator.message
    message = _serving(progress, f"{', '.join(plan.names)} at {url_of(plan)}")
    if situation.diagnosis is not None and situation.diagnosis.reason is Reason.STARTUP_TIMED_OUT:
        message = f"{message}; {situation.diagnosis.message}"
    if situation.revision is not None and situation.revision.failed:
        return returned(situation.revision, message)
    if accelerator is not None and situation.unread and plan.verify_devices and not was_rolled_out(situation):
        return False, Reason.STARTING, accelerator.message
    if situation.rollout and situation.rollout.blocked:
        return True, Reason.ROLLOUT_BLOCKED, f"{message}; the last change waits: {situation.rollout.message}"
    return (True, Reason.CONTESTED, f"{message}; {contest}") if contest else (True, Reason.READY, message)


def _serving(progress: Progress, what: str) -> str:
    """How many replicas serve; more than are asked for while some are ending."""
    if progress.ready <= progress.desired:
        return f"{progress.ready} of {progress.desired} replicas serve {what}"
    more = progress.ready > 1
    return f"{progress.ready} replica{'s serve' if more else ' serves'} {what}; {progress.desired} asked for"


def _contest(situation: Situation) -> str:
    """The message of a Contested condition; empty when there is none."""
    modified = situation.modified
    return modified.message if modified and modified.reason == Reason.CONTESTED else ""


def _emptied(situation: Situation, reason: Reason, message: str) -> tuple[bool, Reason, str]:
    """Pods that still finish requests count, although the Deployment no longer counts them.

    Evicted pods do not: nothing deletes them.
    """
    left = sum(not stays_on(pod) for pod in situation.pods)
    if situation.progress.seen and situation.progress.total == 0 and not left:
        return True, reason, message
    finishing = f"{left} pod{'s' if left != 1 else ''} still finishing requests" if left else "the replicas are ending"
    return False, Reason.PROGRESSING, f"{finishing}: wait"


def _asleep(situation: Situation) -> tuple[bool, Reason, str]:
    """Of one that sleeps: as it was asked for, unless nobody would hold its requests and wake it."""
    idle = situation.scaling.idle if situation.scaling else None
    message = asleep_message(idle, situation.plan.owner.name, can_hold=situation.can_hold)
    if situation.can_hold:
        return _emptied(situation, Reason.ASLEEP, message)
    return False, Reason.ACTIVATOR_MISSING, message
