"""When a workload has waited long enough for a node, so that other devices are worth a try."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from llmservice.converging.progress import Progress
from llmservice.objects.pods import condition, has_ended, is_living, is_placed, newest_first
from llmservice.objects.references import Manifest, controller_uid, is_being_deleted

PATIENCE_SECONDS = 300.0
"""A node autoscaler adds a node in less; what is taken by others may be free for long."""


def seconds_of_patience_left(
    progress: Progress, pods: Sequence[Manifest], now: datetime, freed: datetime | None = None
) -> float | None:
    """Seconds until other devices are tried, 0 when it is time; None while the newest pods do not wait for a node.

    Pods of an older template say nothing about these devices, but while they finish their requests they hold them: what
    counts is the time since `freed`, when the last of them was seen. Of a workload of which a single pod found a node
    nothing is moved: its devices exist, and more may come.
    """
    if not progress.seen or not progress.updated:
        return None
    newest = _of_newest_template(newest_first(filter(is_living, pods)))
    if not newest or any(is_placed(pod) for pod in newest):
        return None
    since = [_unschedulable_since(pod) for pod in newest]
    known = [time for time in since if time is not None]
    if len(known) < len(since) or holds_devices(pods):
        return None
    waits = max([*known, *([freed] if freed else [])])
    return max(0.0, PATIENCE_SECONDS - (now - waits).total_seconds())


def holds_devices(pods: Iterable[Manifest]) -> bool:
    """Whether a pod that is being deleted still occupies its node."""
    return any(is_placed(pod) and is_being_deleted(pod) and not has_ended(pod) for pod in pods)


def _of_newest_template(pods: Sequence[Manifest]) -> list[Manifest]:
    """Those that the same ReplicaSet made as the newest pod."""
    return [pod for pod in pods if controller_uid(pod) == controller_uid(pods[0])]


def _unschedulable_since(pod: Manifest) -> datetime | None:
    """Since when the scheduler finds no node; None where it did not say so, and where something else gates the pod."""
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") != "False" or scheduled.get("reason") == "SchedulingGated":
        return None
    since = scheduled.get("lastTransitionTime")
    return datetime.fromisoformat(since) if since else None
