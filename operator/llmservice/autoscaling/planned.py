"""The policy of a service, from its plan."""

from llmservice.autoscaling.memory import LinePoint
from llmservice.autoscaling.policy import Law, Objective, Reserve, ScalingPolicy
from llmservice.autoscaling.schedules import Bounds
from llmservice.planning.scaling_plan import ScalingPlan


def policy_of(scaling: ScalingPlan, bounds: Bounds, slots: int, period_seconds: float) -> ScalingPolicy:
    """What `decide` needs to know of a service whose replicas work on `slots` requests at once each, within `bounds`.

    A law never goes below one replica: whether none runs is decided beside it (`idling`). The prior of the capacity
    line (`Roofline`) is left out: nothing is known of a model before it is served, unless somebody measured it, and
    what the engine reports takes its place within the first minutes.
    """
    return ScalingPolicy(
        schedule=bounds.schedule,
        minimum=max(1, bounds.minimum),
        maximum=bounds.maximum,
        law=Law(scaling.policy),
        objective=Objective(ttft_seconds=scaling.ttft_seconds, tpot_seconds=scaling.tpot_seconds),
        reserve=Reserve(scaling.reserve),
        targets=scaling.targets,
        slots=slots,
        measured=tuple(LinePoint(tokens, steps, 1.0) for tokens, steps in scaling.measured),
        period_seconds=period_seconds,
    )
