"""Slow pods come last, and what is remembered of them is bounded."""

from dataclasses import replace

import pytest

from llmservice.signals.slow_pods import SlowPods
from tests.unit.signals.fake_engine import a_target


def test_a_slow_pod_waits_behind_the_others_until_it_was_quick() -> None:
    slow, pods = SlowPods(), [a_target(f"chat-{number}") for number in range(4)]
    for number in (2, 0):
        slow.note(pods[number], is_slow=True)
    assert [pod.pod for pod in slow.behind(pods)] == ["chat-1", "chat-3", "chat-2", "chat-0"]
    slow.note(pods[2], is_slow=False)
    assert [pod.pod for pod in slow.behind(pods)] == ["chat-1", "chat-2", "chat-3", "chat-0"]


def test_a_namespace_with_slow_pods_comes_after_those_without() -> None:
    slow, ours, theirs = SlowPods(), a_target(), replace(a_target("new-0"), namespace="hostile")
    slow.note(replace(theirs, pod="old-0"), is_slow=True)
    assert slow.behind([theirs, ours]) == [ours, theirs]


def test_the_memory_of_namespaces_that_have_answered_is_bounded() -> None:
    slow = SlowPods()
    for number in range(8193):
        slow.note(replace(a_target(), namespace=f"team-{number}"), is_slow=False)
    assert [slow.is_new(f"team-{number}") for number in (0, 1, 8192, 8193)] == [True, False, False, True]


@pytest.mark.parametrize("count", [8192, 20_000])
def test_the_memory_of_slow_pods_is_bounded(count: int) -> None:
    slow = SlowPods()
    for number in range(count):
        slow.note(a_target(f"chat-{number}"), is_slow=True)
    assert slow.in_namespace("team") == 8192
    assert a_target(f"chat-{count - 1}") in slow
    assert (a_target("chat-0") in slow) is (count <= 8192)
