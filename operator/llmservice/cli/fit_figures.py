"""A verdict about memory as JSON: sizes in bytes on each GPU."""

from dataclasses import asdict
from typing import Any

from llmservice.planning.fit.verdict import Outcome, Verdict

WORDS = {
    Outcome.FITS: "fits",
    Outcome.TIGHT: "tight",
    Outcome.DOES_NOT_FIT: "does not fit",
    Outcome.UNKNOWN: "unknown",
}


def figures_of(verdict: Verdict) -> dict[str, Any]:
    """Everything that is known, with the ways out."""
    room = verdict.room
    sizes = room and {
        "weightsBytes": round(room.weights),
        "kvCacheBytes": {"careful": round(room.careful), "optimistic": round(room.optimistic)},
        "kvCacheBytesPerRequest": round(room.request),
    }
    return {
        "verdict": verdict.outcome.value,
        **(sizes or {}),
        "fullLengthRequests": round(verdict.full_length_requests, 2),
        "largestMaxModelLen": verdict.largest_context,
        "largestMaxModelLenWith8BitKv": verdict.largest_context_small_kv,
        "remedies": [asdict(remedy) for remedy in verdict.remedies],
        "message": verdict.message,
    }
