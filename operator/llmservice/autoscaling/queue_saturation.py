"""Replicas that are busy with their own queue for longer than a new one needs to start: new work passes them by."""

from llmservice.autoscaling.arithmetic import clip
from llmservice.autoscaling.snapshot import Snapshot

_OWN_SHARE = 60.0
"""Seconds of queue beyond half a cold start that count as one replica lost."""


def queue_saturated(snapshot: Snapshot, request_tokens: float, saturated: float, cold_start_seconds: float) -> float:
    """Replicas lost to their own queues: sum of clip((drain time - H / 2) / 60 s, 0, 1), plus what waits at the gate.

    A queue inside an engine cannot be moved: replicas added now take only what arrives later.
    """
    per_request = request_tokens / saturated
    own = sum(
        clip((max(0.0, replica.waiting - 1) * per_request - 0.5 * cold_start_seconds) / _OWN_SHARE, 0.0, 1.0)
        for replica in snapshot.ready
        if replica.waiting > 1
    )
    return own + snapshot.gated * per_request / _OWN_SHARE
