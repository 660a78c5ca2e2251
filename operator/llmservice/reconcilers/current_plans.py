"""Which plans were found to be those that the current facts would give: they need not be compared again."""

from dataclasses import dataclass, field

from llmservice.planning.service_plan import ServicePlan

_MOST = 16_384
"""Resources that are remembered, of about 200 bytes each. Beyond that all are compared again, once."""


@dataclass(slots=True)
class CurrentPlans:
    """Remembers them, as long as what they were compared with stays the same object."""

    _compared_with: tuple[object, ...] = ()
    _plans: dict[str, tuple[int, int]] = field(default_factory=dict)

    def has(self, plan: ServicePlan, compared_with: tuple[object, ...]) -> bool:
        """Whether this plan was added, compared with these."""
        self._forget_unless(compared_with)
        return self._plans.get(plan.owner.uid) == _version(plan)

    def add(self, plan: ServicePlan, compared_with: tuple[object, ...]) -> None:
        """Remember a plan; one without a UID belongs to no resource and is not remembered."""
        self._forget_unless(compared_with)
        if len(self._plans) >= _MOST:
            self._plans.clear()
        if plan.owner.uid:
            self._plans[plan.owner.uid] = _version(plan)

    def _forget_unless(self, compared_with: tuple[object, ...]) -> None:
        same = len(compared_with) == len(self._compared_with)
        if not (same and all(new is old for new, old in zip(compared_with, self._compared_with, strict=True))):
            self._compared_with, self._plans = compared_with, {}


def _version(plan: ServicePlan) -> tuple[int, int]:
    return plan.owner.generation, hash(plan.facts)
