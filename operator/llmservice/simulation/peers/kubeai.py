"""KubeAI: a mean over ten minutes of the requests at its proxy.

Defaults: interval 10 s, timeWindow 10 min, targetRequests 100, scaleDownDelaySeconds 30
(kubeai.org/how-to/configure-autoscaling, kubeai.org/reference/kubernetes-api).
"""

import math
from dataclasses import dataclass

from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.simulation.peers.deciding import decided
from llmservice.simulation.replaying import Decider

INTERVAL_SECONDS = 10.0
DEFAULT_REQUESTS = 100.0
_WINDOW = 60
"""Intervals: ten minutes."""

_DOWN_DELAY = 3
"""Intervals: 30 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeAiMemory:
    """Active requests of the window, oldest first, and how often in a row fewer replicas would have done."""

    active: tuple[float, ...] = ()
    fewer: int = 0


def following(
    active: float, requests: float, replicas: int, memory: KubeAiMemory, policy: ScalingPolicy
) -> tuple[int, KubeAiMemory]:
    """Replicas to run next: ceil(mean / requests); fewer only after three intervals in which fewer would have done.

    KubeAI's window begins full of zeros, or with what it saved before it was restarted; here it begins full of the
    first reading, as if the service had run before.
    """
    window = (*(memory.active or (active,) * _WINDOW), active)[-_WINDOW:]
    wanted = policy.bounded(math.ceil(sum(window) / _WINDOW / requests))
    if wanted >= replicas:
        return wanted, KubeAiMemory(active=window)
    if memory.fewer < _DOWN_DELAY:
        return replicas, KubeAiMemory(active=window, fewer=memory.fewer + 1)
    return wanted, KubeAiMemory(active=window, fewer=memory.fewer)


def kubeai(requests: float, policy: ScalingPolicy) -> Decider:
    """KubeAI with targetRequests `requests`; to be asked every INTERVAL_SECONDS.

    Its proxy counts every request it has not answered yet, those that no replica takes included.
    """
    memory = KubeAiMemory()

    def decide(snapshot: Snapshot, _: float) -> Decision:
        nonlocal memory
        active = snapshot.running + snapshot.waiting + snapshot.gated
        replicas, memory = following(active, requests, snapshot.replicas, memory, policy)
        mean = sum(memory.active) / _WINDOW
        return decided(snapshot.replicas, replicas, f"{mean:.1f} requests over ten minutes, target {requests:g}")

    return decide
