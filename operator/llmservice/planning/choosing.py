"""Which of the devices that a resource names is taken: the first on which the model can run."""

from collections.abc import Callable

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.gpu import Gpu
from llmservice.errors import InvalidSpec
from llmservice.planning.facts import gpu_of
from llmservice.planning.service_plan import ServicePlan
from llmservice.untrusted.texts import cut

_LONGEST = 400
_ABOUT_DEVICES = frozenset({Reason.DOES_NOT_FIT, Reason.UNSUPPORTED_BY_DEVICE})
"""Reasons for which another device may do."""

_DEVICES = "spec.gpu"
"""The field of a refusal for which it may, too: the version has no image for the device."""

PlanOf = Callable[[int, tuple[str, ...]], ServicePlan]
"""The plan with a choice of devices, and why those before it were passed over. Raises InvalidSpec."""


def first_that_works(gpu: Gpu, plan_of: PlanOf, start: int = 0, passed_over: tuple[str, ...] = ()) -> ServicePlan:
    """The plan with the first choice from `start` on; raises InvalidSpec with the way out of each when none works."""
    problems: list[InvalidSpec] = []
    for choice in range(start, len(gpu.alternatives) + 1):
        try:
            return plan_of(choice, passed_over)
        except InvalidSpec as problem:
            if problem.reason not in _ABOUT_DEVICES and problem.field != _DEVICES:
                raise
            problems.append(problem)
            passed_over = (*passed_over, told(gpu, choice, problem.message.removeprefix(f"{problem.field}: ")))
    if len(problems) == 1:
        raise problems[0]
    raise InvalidSpec(Reason(problems[0].reason), "\n".join(passed_over), field=_DEVICES)


def told(gpu: Gpu, choice: int, why: str) -> str:
    """Why a choice was passed over, as a note of the plan."""
    passed = gpu_of(gpu, choice)
    named = f"{passed.count} × {passed.type}" if passed.count > 1 else passed.type
    return cut(f"{named} is passed over: {why}", _LONGEST)
