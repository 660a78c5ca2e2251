"""When a service would sleep, from a resource that nobody validated."""

from typing import Any

import pytest

from llmservice.converging.held_pods import habits_of
from tests.builders import an_llmservice


@pytest.mark.parametrize(
    ("idle", "last", "idle_after"),
    [
        ({"afterSeconds": 90}, {"totalSeconds": 120}, 90.0),
        ({}, {"totalSeconds": 120}, 1200.0),
        ({}, {"totalSeconds": 2}, 300.0),
        ({}, {"totalSeconds": 3000}, 3600.0),
        ({}, {}, 600.0),
        ({"afterSeconds": "90"}, {"totalSeconds": True}, 600.0),
    ],
)
def test_it_would_sleep_when_one_that_may_sleeps(idle: Any, last: Any, idle_after: float) -> None:
    spec = {"spec__autoscaling": {"maxReplicas": 2, "idle": idle}}
    assert habits_of(an_llmservice(**spec, status={"startup": {"last": last}})).idle_after == idle_after


def test_a_start_that_nobody_measured_costs_nothing() -> None:
    assert habits_of(an_llmservice()).start == 0.0
    assert habits_of(an_llmservice(status={"startup": {"last": {"totalSeconds": 42}}})).start == 42.0
