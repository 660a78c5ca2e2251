"""What doctor says of activators: needed only by services that may sleep."""

from typing import Any

import pytest

from llmservice.cli.checkup import Grade, Hidden
from llmservice.cli.checkup_activators import of_activators
from tests.builders import an_llmservice

SLEEPER = an_llmservice(spec__autoscaling={"minReplicas": 0, "maxReplicas": 2})


def a_pod(*, ready: bool) -> dict[str, Any]:
    condition = {"type": "Ready", "status": str(ready)}
    return {"metadata": {"name": "llmservice-activator-1"}, "status": {"conditions": [condition]}}


@pytest.mark.parametrize(
    ("pods", "services", "grade"),
    [
        ([a_pod(ready=True), a_pod(ready=False)], [SLEEPER], Grade.OK),
        ([a_pod(ready=False)], [SLEEPER], Grade.WRONG),
        ([], [SLEEPER], Grade.WRONG),
        ([], [an_llmservice()], Grade.OK),
        ([a_pod(ready=False)], [an_llmservice()], Grade.OK),
        (Hidden("no right"), [SLEEPER], Grade.UNKNOWN),
    ],
)
def test_it_matters_only_to_services_that_may_sleep(pods: Any, services: list[dict[str, Any]], grade: Grade) -> None:
    assert of_activators(pods, services, "ops").grade is grade


def test_it_says_how_many_are_concerned_and_where_to_look() -> None:
    message = of_activators([], [SLEEPER, SLEEPER, an_llmservice()], "ops").message
    assert "2 LLMServices" in message
    assert "-n ops" in message
