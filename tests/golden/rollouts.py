"""What users read of a rollout: before it begins, while it waits, and when it goes on in another way."""

from collections.abc import Iterator
from itertools import product

from llmservice.converging.free_devices import NO_ANSWER, NO_RIGHT, Room
from llmservice.converging.rollout_choice import (
    Expected,
    RolloutChoice,
    Serving,
    after_no_place,
    choose,
    choose_replacing,
)
from llmservice.converging.rollout_surge import WithoutPlace
from llmservice.planning.service_plan import RolloutPlan, ServicePlan
from tests.unit.converging.plans import a_plan

_NEEDS = {"nvidia.com/gpu": 2}
_ROOMS = (
    Room(needs=_NEEDS, total=8, free=3, node="n1", missing=0, released=True),
    Room(needs=_NEEDS, total=8, free=0, node="", missing=2, released=True),
    Room(needs=_NEEDS, total=8, free=1, node="", missing=1, released=True),
    Room(needs=_NEEDS, total=8, free=1, node="", missing=1, released=False),
    NO_RIGHT,
    NO_ANSWER,
)
_EXPECTED = (Expected(start_seconds=220.0, budget_seconds=900), Expected(start_seconds=None, budget_seconds=900))


def _plan(*, allow_downtime: bool) -> ServicePlan:
    rollout = RolloutPlan(
        max_surge=0,
        max_unavailable=1,
        progress_deadline_seconds=900,
        by_free_devices=True,
        allow_downtime=allow_downtime,
    )
    return a_plan(rollout=rollout, devices=2)


def _choices() -> Iterator[RolloutChoice | None]:
    for replicas, allow, expected in product((1, 3), (True, False), _EXPECTED):
        plan, serving = _plan(allow_downtime=allow), Serving(desired=replicas, ready=replicas)
        for room in _ROOMS:
            yield choose(plan, serving, room, expected)
        for waiting in (WithoutPlace(seconds=20.0, pod="u"), WithoutPlace(seconds=20.0)):
            yield after_no_place(plan, serving, waiting.why, expected)
        yield choose_replacing(plan, serving)


def sentences() -> Iterator[str]:
    """Each choice with its sentence."""
    for choice in _choices():
        if choice is not None:
            yield f"{choice.strategy or 'RolloutBlocked'}: {choice.message}"
