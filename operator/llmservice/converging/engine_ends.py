"""How the run of an engine ended: when its requests were finished, or with those that it still had."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from llmservice.objects.pods import engine_of, last_end_of
from llmservice.objects.references import Manifest, is_being_deleted

_KILLED = 137
"""128 + SIGKILL: the grace period was over, or the memory."""
_POLITE = frozenset({0, 143})
"""143 is 128 + SIGTERM: engines that set no handler for it."""


def cut_short(before: Manifest, after: Manifest | None, reserve_seconds: float) -> bool | None:
    """Whether the engine's run ended between two states of its pod with the requests it had; None while it goes on.

    `before` is a pod whose engine ran. `reserve_seconds` is the part of the grace period after the drain: what ends
    in it has not finished, but was told to end.

    | the engine                                                    | its requests |
    |---------------------------------------------------------------|--------------|
    | was killed                                                    | cut          |
    | of a leaving pod ended after `spec.drain.timeoutSeconds`      | cut          |
    | of a leaving pod ended before                                 | finished     |
    | of a pod that stays ended as it was asked to                  | finished     |
    | of a pod that stays crashed                                   | cut          |
    | was never seen to end, and its pod is gone: deleted by force  | cut          |
    """
    if after is None:
        return True
    end = _end_between(engine_of(before), engine_of(after))
    if end is None:
        return None
    code = end.get("exitCode")
    if code == _KILLED:
        return True
    return _ran_out(after, end, reserve_seconds) if is_being_deleted(after) else code not in _POLITE


def _end_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The termination of the engine's run, also when the next run has begun; None while it goes on."""
    ended = bool((after.get("state") or {}).get("terminated"))
    restarted = int(after.get("restartCount", 0)) > int(before.get("restartCount", 0))
    return last_end_of(after) if ended or restarted else None


def _ran_out(pod: Manifest, end: Mapping[str, Any], reserve_seconds: float) -> bool:
    """Whether the drain took all the time it had; unknown, so False, where somebody gave the pod another grace."""
    metadata, finished_at = pod["metadata"], end.get("finishedAt")
    own_grace = (pod.get("spec") or {}).get("terminationGracePeriodSeconds")
    if not finished_at or metadata.get("deletionGracePeriodSeconds") != own_grace:
        return False
    last = datetime.fromisoformat(metadata["deletionTimestamp"]) - timedelta(seconds=reserve_seconds)
    return datetime.fromisoformat(finished_at) >= last
