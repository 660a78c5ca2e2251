"""What is said while a node pulls the engine's image."""

from datetime import UTC, datetime
from typing import Any

from llmservice.converging.preparation import Preparation
from llmservice.converging.pulling import pulling
from llmservice.objects.references import Manifest

PULLS = Preparation(over=True, pulling="registry.test/e:1", pulling_since="2026-01-01T00:00:00Z")


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(1_767_225_600 + seconds, UTC)


def a_pod(name: str = "chat-0", **state: Any) -> Manifest:
    status = {"name": "engine", "state": state or {"waiting": {"reason": "ContainerCreating"}}}
    return {"metadata": {"name": name}, "status": {"containerStatuses": [status]}}


def test_the_image_and_for_how_long() -> None:
    said = pulling([a_pod()], {"chat-0": PULLS}, {}, at(135))
    assert all(part in said for part in ("registry.test/e:1", "2m00s"))


def test_it_says_the_same_between_two_steps_and_few_things_in_all() -> None:
    said = [pulling([a_pod()], {"chat-0": PULLS}, {}, at(seconds)) for seconds in range(1800)]
    assert said[121] == said[179]
    assert len({*said}) <= 9


def test_nothing_of_a_pod_that_waits_for_anything_else() -> None:
    assert pulling([a_pod()], {"chat-0": Preparation(over=True)}, {}, at(60)) == ""
    assert pulling([a_pod()], {}, {}, at(60)) == ""


def test_nothing_while_an_engine_loads() -> None:
    pods = [a_pod(), a_pod("chat-1", running={})]
    assert pulling(pods, {"chat-0": PULLS}, {}, at(60)) == ""


def test_several_nodes_are_counted_and_the_longest_pull_is_told() -> None:
    later = Preparation(over=True, pulling="registry.test/e:1", pulling_since="2026-01-01T00:01:30Z")
    said = pulling([a_pod(), a_pod("chat-1")], {"chat-0": PULLS, "chat-1": later}, {}, at(135))
    assert said.startswith("2 ")
    assert "2m00s" in said


def test_how_long_the_last_start_took_is_told_where_it_pulled() -> None:
    def said(seconds: int) -> str:
        status = {"startup": {"last": {"imageSeconds": seconds}}}
        return pulling([a_pod()], {"chat-0": PULLS}, status, at(135))

    assert "3m05s" in said(185)
    assert said(2) == pulling([a_pod()], {"chat-0": PULLS}, {}, at(135))
