"""The rollout strategy: whether old replicas stop first or new ones start first."""

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.planning.decided import Decided, default
from llmservice.planning.service_plan import RolloutPlan

_SHAPES = {"Auto": (0, 1), "Replace": (0, 1), "Surge": (1, 0)}
"""Strategy → (surge, unavailable)."""

_ON_DEVICES = "Replace", "devices are rarely spare: the old replica stops first, so that no extra device is needed"
_ON_CPU = "Surge", "CPUs can be shared: the new replica starts first, so that there is no gap"


def choose_rollout(spec: LLMServiceSpec, progress_deadline: int) -> Decided[RolloutPlan]:
    """The strategy in the spec, else Replace on devices and Surge on CPUs."""
    if spec.rollout.strategy is not None:
        return Decided(_plan(spec.rollout.strategy, progress_deadline))
    strategy, reason = _ON_DEVICES if spec.gpu.count else _ON_CPU
    return Decided(_plan(strategy, progress_deadline), default("rollout.strategy", strategy, reason))


def _plan(strategy: str, progress_deadline: int) -> RolloutPlan:
    surge, unavailable = _SHAPES[strategy]
    return RolloutPlan(max_surge=surge, max_unavailable=unavailable, progress_deadline_seconds=progress_deadline)
