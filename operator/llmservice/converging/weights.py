"""What a status says of a model's files on a claim: while they are downloaded, when they are complete or lost.

`status.weights` is the memory of it: whoever finds his claim and his key there waits for no download.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition, condition_in, timestamp
from llmservice.converging.diagnosis import Diagnosis
from llmservice.models.download_answer import DownloadedModel, is_path_on_claim
from llmservice.models.sizes import in_gb
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.service_plan import ServicePlan
from llmservice.untrusted.texts import cut

Status = Mapping[str, Any]

AGAIN_AFTER_SECONDS = 600
"""Files that are missed sooner after a download are not there for another cause: nothing is downloaded in a loop."""
_LOSSES = frozenset({Reason.MODEL_NOT_FOUND, Reason.CLAIM_NOT_FOUND})
_SOON_SECONDS = 0.1
_LONGEST_NOTE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Why a service waits for its weights, and for how many seconds until it looks again.

    One that does not pass by itself is Stalled. `record` is what `status.weights` says from now on, once the files are
    complete; then the next pass goes on. `key` is that of the download.
    """

    reason: Reason
    message: str
    again_seconds: float
    key: str = ""
    passes: bool = True
    record: Status | None = None


def recorded(status: Status, cache: CachePlan) -> Status | None:
    """What the status knows of these files on this claim; None where they were not complete, or are missed since."""
    record: Status = status.get("weights") or {}
    is_this = (record.get("claim"), record.get("key")) == (cache.claim, cache.request.key)
    if not is_this or not is_path_on_claim(record.get("path")):
        return None
    return None if is_lost(status) else record


def trusted(status: Status, cache: CachePlan) -> str:
    """The path that the generation was planned with: after a rollback the status knows of another model's files.

    Empty where there is none, or where files are waited for: they may be those.
    """
    waits = condition_in(status, ConditionType.WEIGHTS_READY).get("status") == "False"
    return "" if waits else cache.weights


def is_lost(status: Status) -> bool:
    """Whether an engine missed the files, and no download has begun since."""
    return bool(condition_in(status, ConditionType.WEIGHTS_READY).get("reason") == Reason.WEIGHTS_MISSING)


def record_of(
    cache: CachePlan, claim_uid: str, found: DownloadedModel, now: datetime, note: str = ""
) -> dict[str, Any]:
    """What the status keeps of a download that is complete; `note` is what to know of the claim."""
    record = {
        "claim": cache.claim,
        "claimUid": claim_uid,
        "key": cache.request.key,
        "path": found.path,
        "bytes": found.bytes,
        "files": found.files,
        "completedAt": timestamp(now),
    }
    known = {"commit": found.commit, "note": cut(note, _LONGEST_NOTE)}
    return {**record, **{name: value for name, value in known.items() if value}}


def kept_record(before: Status, waiting: Waiting) -> dict[str, Any]:
    """The field `weights` of a service that waits: that of another model stays, for the replicas that load it."""
    record = waiting.record or before.get("weights") or {}
    is_stale = waiting.record is None and record.get("key") == waiting.key
    return {"weights": dict(record)} if record and not is_stale else {}


def weights_condition_while(waiting: Waiting) -> Condition:
    """The condition of a service that waits, or that has just got its files."""
    ready = waiting.record is not None
    reason = Reason.DOWNLOADED if ready else waiting.reason
    return Condition(type=ConditionType.WEIGHTS_READY, status=ready, reason=reason, message=waiting.message)


def weights_condition(plan: ServicePlan, before: Status, diagnosis: Diagnosis | None) -> Condition | None:
    """The condition of a service whose plan is in force; None without a cache, or before anything was downloaded."""
    if plan.cache is None or not plan.cache.weights:
        return None
    if diagnosis is not None and diagnosis.reason is Reason.WEIGHTS_MISSING:
        return _condition(ready=False, reason=Reason.WEIGHTS_MISSING, message=diagnosis.message)
    record = recorded(before, plan.cache)
    if record is None:
        return None
    return _condition(ready=True, reason=Reason.DOWNLOADED, message=complete(record))


def complete(record: Status) -> str:
    """The sentence about files that are complete."""
    count, commit = int(record.get("files", 0)), str(record.get("commit") or "")
    files = f"{count} file{'' if count == 1 else 's'}, {in_gb(int(record.get('bytes', 0)))}"
    told = f"{files}{f', of commit {commit[:12]}' if commit else ''} on claim {record.get('claim')}"
    return f"{told}; {record['note']}" if record.get("note") else told


def lost_weights(plan: ServicePlan, before: Status, diagnosis: Diagnosis | None, now: datetime) -> Diagnosis | None:
    """The diagnosis; where an engine misses files that were complete on its claim, it says that they come again.

    It does so once in ten minutes at most: an engine that cannot read what is there sets off no endless downloads.
    """
    if plan.cache is None or diagnosis is None or diagnosis.reason not in _LOSSES:
        return diagnosis
    record = recorded(before, plan.cache)
    if record is None or now < _completed_at(record) + timedelta(seconds=AGAIN_AFTER_SECONDS):
        return diagnosis
    message = f"the model is not on claim {plan.cache.claim} any more, it is downloaded again: {diagnosis.message}"
    return dataclasses.replace(diagnosis, reason=Reason.WEIGHTS_MISSING, message=message, self_healing=True, since="")


def seconds_to_fetch(diagnosis: Diagnosis | None) -> float:
    """Seconds until the pass that downloads again what an engine misses; 0 where nothing is missed."""
    return _SOON_SECONDS if diagnosis is not None and diagnosis.reason is Reason.WEIGHTS_MISSING else 0.0


def kept_weights(plan: ServicePlan, before: Status) -> dict[str, Any]:
    """The field `weights` of a service whose plan is in force: as long as it has a cache."""
    return {"weights": before["weights"]} if plan.cache is not None and before.get("weights") else {}


def _completed_at(record: Status) -> datetime:
    return datetime.fromisoformat(str(record.get("completedAt") or "1970-01-01T00:00:00Z"))


def _condition(*, ready: bool, reason: Reason, message: str) -> Condition:
    return Condition(type=ConditionType.WEIGHTS_READY, status=ready, reason=reason, message=message)
