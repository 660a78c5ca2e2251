"""The largest resource that the CRD admits: what the operator writes about it, and makes of it, is bounded too."""

from typing import Any

import orjson
import pytest

from llmservice.api.v1alpha1.size import LARGEST_SPEC_BYTES
from tests.scenarios.world import World

LARGEST_STATUS_BYTES = 32 * 1024
"""Together with a spec of at most 96 kB: 128 kB."""


@pytest.mark.parametrize("mark", ["x", "é", "😀", "<"])
@pytest.mark.parametrize(
    "options",
    [
        {"args": [8192, 8192, 5000]},
        {"args": [170] * 128},
        {"env": [20000]},
    ],
    ids=["long arguments", "many arguments", "a long variable"],
)
def test_resource_and_status_have_at_most_128_kb(mark: str, options: dict[str, Any]) -> None:
    args = [mark * length for length in options.get("args", ())]
    env = [{"name": f"V{number}", "value": mark * length} for number, length in enumerate(options.get("env", ()))]
    world = World()
    world.apply(spec__engineOptions={"args": args, "env": env})
    world.reconcile()
    service = world.get("LLMService")
    assert len(orjson.dumps(service["spec"])) <= LARGEST_SPEC_BYTES
    assert 0 < len(orjson.dumps(service["status"])) <= LARGEST_STATUS_BYTES
    assert service["status"]["conditions"]
