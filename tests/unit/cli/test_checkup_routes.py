"""What doctor says of the Gateway API: needed only by who asks for a route."""

from typing import Any

import pytest

from llmservice.cli.checkup import Grade, Hidden
from llmservice.cli.checkup_routes import of_routes
from tests.builders import an_llmservice

ROUTED = an_llmservice(spec__route={"parentRefs": [{"name": "shared"}]})
THERE = {"resources": [{"name": "gateways"}, {"name": "httproutes"}]}


@pytest.mark.parametrize(
    ("resources", "services", "grade"),
    [
        (THERE, [ROUTED], Grade.OK),
        (None, [an_llmservice()], Grade.OK),
        (None, [ROUTED, an_llmservice()], Grade.LOOK),
        ({"resources": [{"name": "gateways"}]}, [ROUTED], Grade.LOOK),
        (Hidden("no right"), [ROUTED], Grade.UNKNOWN),
    ],
)
def test_it_matters_only_to_who_asks_for_a_route(resources: Any, services: list[dict[str, Any]], grade: Grade) -> None:
    assert of_routes(resources, services).grade is grade


def test_it_says_how_many_ask() -> None:
    assert "2 LLMServices" in of_routes(None, [ROUTED, ROUTED]).message
