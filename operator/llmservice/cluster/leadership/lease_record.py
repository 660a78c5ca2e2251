"""An election by one Lease, as values: who holds it, and what a candidate may do about it. No I/O, no clock.

The rules are those of client-go (tools/leaderelection): a candidate never compares clocks of two machines, it waits
until it has seen the same record for as long as that record claims to last.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from llmservice.objects.references import Manifest

_MICROTIME = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTiming:
    """How long a term lasts for others, how long for its holder, and how often it is renewed, in seconds.

    The holder stops at the renew deadline, counted from before it asked for its last renewal; others wait for the
    whole duration, counted from when they saw it. What lies between is the safety margin.
    """

    duration_seconds: int = 15
    renew_deadline_seconds: float = 10.0
    retry_seconds: float = 2.0

    @property
    def call_seconds(self) -> float:
        """The longest one call may take: a hung API server must not eat the whole term."""
        return self.renew_deadline_seconds / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRecord:
    """What the API server keeps. An empty `holder` means free; `version` is the resource version."""

    holder: str
    duration_seconds: int
    acquired_at: str
    renewed_at: str
    transitions: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A record, and the monotonic time at which it was first seen like this."""

    record: LeaseRecord
    since: float


def seen(before: Sighting | None, record: LeaseRecord, now: float) -> Sighting:
    """The sighting after a look: its time moves only when the record did."""
    return before if before is not None and before.record == record else Sighting(record, now)


def may_claim(sighting: Sighting | None, identity: str, now: float) -> bool:
    """Whether this candidate may write itself into the Lease.

    | Lease                        | claim |
    |------------------------------|-------|
    | none yet                     | yes   |
    | free, or ours                | yes   |
    | another's, renewed of late   | no    |
    | another's, for too long same | yes   |
    """
    if sighting is None or sighting.record.holder in {"", identity}:
        return True
    return now >= sighting.since + sighting.record.duration_seconds


def came_back(before: LeaseRecord | None, record: LeaseRecord | None, identity: str) -> bool:
    """Whether a Lease is this candidate's only because etcd was restored: whoever led since may go on for a while."""
    if before is None or record is None or record.holder != identity or before.holder in {"", identity}:
        return False
    return before.version.isdecimal() and record.version.isdecimal() and int(record.version) < int(before.version)


def claimed(record: LeaseRecord | None, identity: str, timing: LeaseTiming, now: datetime) -> LeaseRecord:
    """The record with us as its holder: renewed when it was ours, taken over otherwise."""
    moment = now.astimezone(UTC).strftime(_MICROTIME)
    if record is None:
        return LeaseRecord(
            holder=identity, duration_seconds=timing.duration_seconds, acquired_at=moment, renewed_at=moment
        )
    renewed = replace(record, duration_seconds=timing.duration_seconds, renewed_at=moment)
    if record.holder == identity:
        return renewed
    return replace(renewed, holder=identity, acquired_at=moment, transitions=record.transitions + 1)


def released(record: LeaseRecord, now: datetime) -> LeaseRecord:
    """The record without a holder: the next candidate need not wait."""
    return replace(record, holder="", duration_seconds=1, renewed_at=now.astimezone(UTC).strftime(_MICROTIME))


def record_of(manifest: Mapping[str, Any], timing: LeaseTiming) -> LeaseRecord:
    """The record in a Lease; what it leaves out is taken from the timing."""
    spec = manifest.get("spec") or {}
    return LeaseRecord(
        holder=str(spec.get("holderIdentity") or ""),
        duration_seconds=int(spec.get("leaseDurationSeconds") or timing.duration_seconds),
        acquired_at=str(spec.get("acquireTime") or ""),
        renewed_at=str(spec.get("renewTime") or ""),
        transitions=int(spec.get("leaseTransitions") or 0),
        version=str(manifest["metadata"].get("resourceVersion", "")),
    )


def manifest_of(record: LeaseRecord, namespace: str, name: str) -> Manifest:
    """The Lease to send; with a resource version it replaces exactly the one that was read."""
    metadata = {"namespace": namespace, "name": name}
    spec = {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.duration_seconds,
        "acquireTime": record.acquired_at or None,
        "renewTime": record.renewed_at or None,
        "leaseTransitions": record.transitions,
    }
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {**metadata, "resourceVersion": record.version} if record.version else metadata,
        "spec": spec,
    }
