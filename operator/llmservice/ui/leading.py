"""Whether an operator works on what the page shows, by its Lease. No I/O."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

_PATIENCE = 2.0
"""Lease durations without a renewal after which nobody is taken to lead: another replica would have by then."""
_USUAL_SECONDS = 15


def leading_from(lease: Mapping[str, Any] | None, where: str, now: datetime) -> dict[str, Any]:
    """`state` is Leads or Away, with a sentence. `lease` None: there is none."""
    if lease is None:
        return _away(
            f"there is no Lease {where}: is the operator installed there? name another with --operator-namespace"
        )
    spec = lease.get("spec") or {}
    renewed = _time(spec.get("renewTime"))
    holder = str(spec.get("holderIdentity") or "").rpartition("_")[0] or str(spec.get("holderIdentity") or "")
    if not holder or renewed is None:
        return _away("no replica of the operator leads; what is shown is what it wrote last")
    silent = (now - renewed).total_seconds()
    if silent > _PATIENCE * (spec.get("leaseDurationSeconds") or _USUAL_SECONDS):
        return _away(
            f"the operator is away for {silent:.0f} s; services serve on, and what is shown is what it wrote last"
        )
    return {"state": "Leads", "message": f"led by {holder}"}


def leading_unknown(why: str) -> dict[str, Any]:
    """Where the Lease cannot be read."""
    return {"state": "Unknown", "message": f"whether the operator works is not known: {why}"}


def _away(message: str) -> dict[str, Any]:
    return {"state": "Away", "message": message}


def _time(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        return None
