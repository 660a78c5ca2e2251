"""The rollout strategy: whether old replicas stop first or new ones start first."""

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.planning.decided import Decided, default
from llmservice.planning.nodes import nodes_of
from llmservice.planning.service_plan import RolloutPlan

_SHAPES = {"Replace": (0, 1), "Surge": (1, 0)}
"""Strategy → (surge, unavailable)."""

_ON_DEVICES = "Auto", "one more replica first while a device is free for it, else in place"
_ON_NODES = "Replace", "in place: whether several nodes have room at once is not counted"
_ON_CPU = "Surge", "CPUs can be shared: the new replica starts first, so that there is no gap"


def choose_rollout(spec: LLMServiceSpec, progress_deadline: int) -> Decided[RolloutPlan]:
    """The strategy in the spec, else Auto on devices and Surge on CPUs.

    Auto on CPUs is Surge. On devices its plan is that of Replace: whether one is free is counted for each rollout, but
    for replicas on several nodes.
    """
    strategy, reason = _usual(spec)
    if spec.rollout.strategy is not None:
        return Decided(_plan(spec, spec.rollout.strategy, progress_deadline))
    return Decided(_plan(spec, strategy, progress_deadline), default("rollout.strategy", strategy, reason))


def _usual(spec: LLMServiceSpec) -> tuple[str, str]:
    if nodes_of(spec) > 1:
        return _ON_NODES
    return _ON_DEVICES if spec.gpu.count else _ON_CPU


def shape_of(strategy: str) -> tuple[int, int]:
    """How many replicas more, and how many fewer than wanted, there may be while they are replaced."""
    return _SHAPES[strategy]


def _plan(spec: LLMServiceSpec, strategy: str, progress_deadline: int) -> RolloutPlan:
    counted = strategy == "Auto" and spec.gpu.count > 0 and nodes_of(spec) == 1
    if strategy == "Auto":
        strategy = "Replace" if spec.gpu.count else "Surge"
    surge, unavailable = _SHAPES[strategy]
    return RolloutPlan(
        max_surge=surge,
        max_unavailable=unavailable,
        progress_deadline_seconds=progress_deadline,
        by_free_devices=counted,
        allow_downtime=spec.rollout.allow_downtime,
    )
