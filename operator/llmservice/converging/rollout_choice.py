"""Decides how a change reaches the replicas: one more first, in place, or not yet; and says so beforehand."""

from dataclasses import dataclass

from llmservice.converging.free_devices import Room, Uncounted
from llmservice.converging.spans import span
from llmservice.objects.device_amounts import Devices
from llmservice.planning.service_plan import ServicePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """How long one replica is away: the seconds of the last start, None where none was measured."""

    start_seconds: float | None
    budget_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """`desired` is how many replicas there are to be, `ready` how many serve."""

    desired: int
    ready: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutChoice:
    """`strategy` is Replace or Surge; None: the change waits, and `message` says for what."""

    strategy: str | None
    message: str = ""


NOTHING_TO_LOSE = RolloutChoice(strategy="Replace")
"""Where nothing serves, in place is the fastest, and there is nothing to announce."""


def choose(plan: ServicePlan, serving: Serving, room: Room | Uncounted, expected: Expected) -> RolloutChoice:
    """How the replicas are replaced.

    | one more replica        | replicas | downtime allowed | choice                                    |
    |-------------------------|----------|------------------|-------------------------------------------|
    | none serves             | any      | any              | Replace, not announced                    |
    | has room                | any      | any              | Surge                                     |
    | gets none in place      | any      | any              | Surge: those that run serve until there is|
    | gets room in place      | several  | any              | Replace: the others serve                 |
    | gets room in place      | one      | yes              | Replace, with the expected gap            |
    | gets room in place      | one      | no               | the change waits                          |
    | cannot be counted       | several  | any              | Replace                                   |
    | cannot be counted       | one      | yes              | Replace                                   |
    | cannot be counted       | one      | no               | Surge: no gap, and maybe a long wait      |
    """
    if not serving.ready or not serving.desired:
        return NOTHING_TO_LOSE
    if isinstance(room, Uncounted):
        return _uncounted(plan, serving, room, expected)
    if room.node:
        return RolloutChoice(
            strategy="Surge",
            message=f"{room.free} of {room.total} {device_name(plan)} free: one more replica first, no gap expected",
        )
    if not room.released:
        return RolloutChoice(
            strategy="Surge",
            message=f"no node has {amount(plan, room.needs)} free and replacing in place would free none: "
            "the replicas that run serve until one is there",
        )
    lacking = f"no node has {amount(plan, room.needs)} free" if room.free else f"no free {device_name(plan)}"
    return _in_place(plan, serving, lacking, expected, room)


def may_wait(plan: ServicePlan) -> bool:
    """Whether a strategy of the spec takes a replica away that may have to stay."""
    return plan.rollout.max_unavailable > 0 and not plan.rollout.allow_downtime


def choose_replacing(plan: ServicePlan, serving: Serving) -> RolloutChoice | None:
    """What holds an explicit Replace back: one replica that must not go; None where nothing does."""
    if not may_wait(plan) or serving.desired != 1 or not serving.ready:
        return None
    return RolloutChoice(
        strategy=None,
        message="Replace would leave no replica to serve: set spec.rollout.strategy to Auto or Surge, or "
        "spec.rollout.allowDowntime to true",
    )


def after_no_place(plan: ServicePlan, serving: Serving, why: str, expected: Expected) -> RolloutChoice | None:
    """In place after all, because the new replica cannot come first; None where that is not allowed."""
    choice = _in_place(plan, serving, why, expected, None)
    return choice if choice.strategy else None


def device_name(plan: ServicePlan) -> str:
    """How messages name the devices: by type, else by resource."""
    return plan.accelerator or plan.resource_name


def amount(plan: ServicePlan, needs: Devices) -> str:
    """What one replica needs, such as `2 × L4`."""
    return f"{needs.get(plan.resource_name, plan.devices_of_node)} × {device_name(plan)}"


def _in_place(plan: ServicePlan, serving: Serving, why: str, expected: Expected, room: Room | None) -> RolloutChoice:
    if serving.desired > 1:
        meanwhile = f"{serving.desired - 1} of {serving.desired} serve meanwhile"
        return RolloutChoice(strategy="Replace", message=f"{why}: replacing in place, one at a time, {meanwhile}")
    if plan.rollout.allow_downtime:
        return RolloutChoice(strategy="Replace", message=f"{why}: replacing in place, {_gap(expected)}")
    missing = room.missing if room else plan.devices
    needed = f"needs {missing} more {plan.resource_name}" + (f" ({plan.accelerator})" if plan.accelerator else "")
    return RolloutChoice(
        strategy=None,
        message=f"{needed}: free one or add a node, or set spec.rollout.allowDowntime to true",
    )


def _uncounted(plan: ServicePlan, serving: Serving, room: Uncounted, expected: Expected) -> RolloutChoice:
    why = f"free devices cannot be counted ({room.why})"
    if serving.desired == 1 and not plan.rollout.allow_downtime:
        return RolloutChoice(strategy="Surge", message=f"{why}: one more replica first, as soon as a node has room")
    return _in_place(plan, serving, why, expected, None)


def _gap(expected: Expected) -> str:
    if expected.start_seconds is None:
        return f"a gap of one start, which may take {span(expected.budget_seconds)}"
    return f"expected gap {span(expected.start_seconds)}, as the last start took"
