"""The scale bench: what it counts as ready, whose CPU a sample is, and how the page is made."""

import sys
from types import FrameType
from typing import Any

import pytest

from benchmarks.scale.profiler import OTHER, part_of
from benchmarks.scale.workload import is_ready


def a_body(observed: int, status: str) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": status}]
    return {"metadata": {"generation": 2}, "status": {"observedGeneration": observed, "conditions": conditions}}


@pytest.mark.parametrize(("observed", "status", "ready"), [(2, "True", True), (1, "True", False), (2, "False", False)])
def test_ready_counts_when_it_is_said_of_the_newest_spec(observed: int, status: str, ready: bool) -> None:
    assert is_ready(a_body(observed, status)) is ready


def test_a_resource_without_a_status_is_not_ready() -> None:
    assert not is_ready({"metadata": {"generation": 1}})


def frame_in(*files: str) -> FrameType:
    """A frame whose stack runs through these files, the innermost last."""
    namespace: dict[str, Any] = {"sys": sys, "inner": lambda: sys._getframe()}  # noqa: PLW0108  (its frame is wanted)
    for file in reversed(files):
        exec(compile("def call(inner=inner):\n    return inner()", file, "exec"), namespace)  # noqa: S102
        namespace["inner"] = namespace["call"]
    frame = namespace["inner"]()
    assert isinstance(frame, FrameType)
    return frame


@pytest.mark.parametrize(
    ("files", "part"),
    [
        (("/x/asyncio/events.py", "/x/aiohttp/client.py"), "event loop, TLS, HTTP parsing"),
        (
            ("/x/asyncio/events.py", "/x/cluster/transport/connection.py", "/x/aiohttp/client.py"),
            "requests to the API server",
        ),
        (("/x/controllers/kopf_thread/watch.py", "/x/asyncio/events.py"), "kopf watching LLMServices"),
    ],
)
def test_a_sample_belongs_to_the_first_part_with_a_file_in_its_stack(files: tuple[str, ...], part: str) -> None:
    assert part_of(frame_in(*files)) == part


def test_a_thread_that_is_gone_belongs_to_no_part() -> None:
    assert part_of(None) == OTHER
