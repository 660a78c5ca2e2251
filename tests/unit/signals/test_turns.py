"""Who is next: the namespace that holds the fewest places."""

import asyncio
from dataclasses import replace

import pytest

from llmservice.signals.slow_pods import SlowPods
from llmservice.signals.turns import FairQueue, in_turn
from tests.unit.signals.fake_engine import a_target


def granted(queue: FairQueue, asked: list[tuple[str, asyncio.Future[None]]], places: int) -> list[str]:
    """Who gets the next places, in order of asking."""
    before = {id(turn) for _, turn in asked if turn.done()}
    for _ in range(places):
        if queue.places_of_next() is not None:
            queue.grant()
    return [owner for owner, turn in asked if turn.done() and id(turn) not in before]


async def test_next_is_who_holds_the_fewest_however_many_wait() -> None:
    queue = FairQueue()
    asked = [(owner, queue.ask(owner)) for owner in ["many"] * 50 + ["few"] * 2]
    assert sorted(granted(queue, asked, 4)) == ["few", "few", "many", "many"]


async def test_a_place_that_is_given_back_goes_to_who_holds_fewer() -> None:
    queue = FairQueue()
    asked = [("many", queue.ask("many")) for _ in range(10)]
    granted(queue, asked, 4)
    late = [("few", queue.ask("few"))]
    queue.give_back("many")
    assert granted(queue, asked + late, 1) == ["few"]


async def test_who_has_left_the_queue_is_skipped() -> None:
    queue = FairQueue()
    asked = [(owner, queue.ask(owner)) for owner in ("one", "two")]
    asked[0][1].cancel()
    assert queue.places_of_next() == 0
    queue.grant()
    assert not asked[1][1].cancelled()
    assert asked[1][1].done()
    assert queue.places_of_next() is None


async def test_nothing_is_kept_of_owners_that_are_done() -> None:
    queue = FairQueue()
    for number in range(1000):
        queue.ask(f"namespace-{number}")
        queue.grant()
        queue.give_back(f"namespace-{number}")
    assert queue.places_of_next() is None
    assert (queue.total, len(queue._held), len(queue._waiting), len(queue._heap)) == (0, 0, 0, 0)


def named(*names: str) -> list[str]:
    """The order of targets written as namespace/service/pod."""
    targets = [
        replace(a_target(), namespace=namespace, service=service, pod=pod)
        for namespace, service, pod in (name.split("/") for name in names)
    ]
    return [f"{each.namespace}/{each.service}/{each.pod}" for each in in_turn(targets)]


def test_namespaces_take_turns_and_so_do_the_services_of_one() -> None:
    assert named("a/x/0", "a/x/1", "a/x/2", "a/y/0", "b/z/0", "b/z/1") == [
        *("a/x/0", "b/z/0", "a/y/0", "b/z/1", "a/x/1", "a/x/2"),
    ]


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


async def test_an_owner_that_is_known_comes_before_new_ones_as_often_as_it_gives_its_place_back() -> None:
    queue = FairQueue(lambda owner: owner != "ours")
    theirs = [queue.ask(f"new-{number}") for number in range(3)]
    ours = [queue.ask("ours") for _ in range(2)]
    for turn in ours:
        assert queue.places_of_next() == 0
        queue.grant()
        assert turn.done()
        queue.give_back("ours")
    assert not any(turn.done() for turn in theirs)


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
