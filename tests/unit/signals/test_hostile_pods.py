"""A tenant whose pods answer badly, as many as they like: the others' are read in every round, in bounded memory."""

import asyncio
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.signals.pod_scrape import Limits, Pods, pods
from llmservice.signals.source import Target
from tests.unit.signals.fake_engine import a_target
from tests.unit.signals.hostile_pods import hostile_pods

SHORT = Limits(pod_seconds=0.8, round_seconds=1.3, at_once=16)
"""Few connections, so that a busy machine has little to do; hostile pods are many times as many."""
MIB = 2**20

Ports = dict[str, int]


@pytest.fixture(scope="module")
def ports() -> Iterator[Ports]:
    """Those of good pods are another process's, which no bad one can slow down."""
    with hostile_pods() as bad, hostile_pods() as good:
        yield {**bad, **{kind: good[kind] for kind in ("whole", "of_many_engines")}}


def many(count: int, port: int, namespace: str = "hostile", service: str = "bad") -> list[Target]:
    pod = replace(a_target(port=port), namespace=namespace, service=service)
    return [replace(pod, pod=f"{service}-{number}") for number in range(count)]


def are_read(answers: dict[Target, Reading | ReadFailure], targets: Sequence[Target]) -> bool:
    return all(isinstance(answers[target], Reading) for target in targets)


async def most_held(source: Pods, reading: asyncio.Future[dict[Target, Reading | ReadFailure]]) -> int:
    most = 0
    while not reading.done():
        most = max(most, source.budget.held_bytes)
        await asyncio.sleep(0)
    return most


@pytest.mark.parametrize(
    ("kind", "reason"), [("too_large", ReadFailureReason.TOO_LARGE), ("nearly_whole", ReadFailureReason.TIMED_OUT)]
)
async def test_150_pods_with_large_pages_take_no_more_than_40_mib(
    ports: Ports, kind: str, reason: ReadFailureReason
) -> None:
    targets = many(150, ports[kind])
    async with pods(Limits(pod_seconds=1.5, round_seconds=2.5)) as source:
        tracemalloc.start()
        try:
            reading = asyncio.ensure_future(source.read(targets))
            held = await most_held(source, reading)
            allocated = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert source.budget.held_bytes == 0
    reasons = {result.reason for result in (await reading).values() if isinstance(result, ReadFailure)}
    assert reasons <= {reason, ReadFailureReason.TIMED_OUT, ReadFailureReason.PASSED_OVER}  # on a busy machine
    assert 8 * MIB < held <= 40 * MIB < source.budget.total_bytes < 48 * MIB
    assert allocated <= held


@pytest.mark.parametrize(("bad", "good"), [("drip", "whole"), ("nearly_whole", "of_many_engines")])
async def test_three_pods_have_their_turn_in_every_round_whatever_260_of_another_namespace_do(
    ports: Ports, bad: str, good: str
) -> None:
    hostile, victims = many(260, ports[bad]), many(3, ports[good], "victim", "chat")
    hanging = many(3, ports["drip"], "unlucky", "chat")
    async with pods(SHORT) as source:
        for _ in range(2):
            answers = await source.read([*hostile, *victims, *hanging])
            assert are_read(answers, victims)
            assert {unread(answers[target]).reason for target in hanging} == {ReadFailureReason.TIMED_OUT}


async def test_services_of_one_namespace_take_turns_too(ports: Ports) -> None:
    hostile, victims = many(260, ports["drip"], "team", "bad"), many(3, ports["whole"], "team", "chat")
    async with pods(SHORT) as source:
        assert are_read(await source.read([*hostile, *victims]), victims)


def in_as_many_namespaces(targets: Sequence[Target]) -> list[Target]:
    return [replace(pod, namespace=f"hostile-{pod.pod}") for pod in targets]


async def test_a_tenant_with_more_namespaces_than_a_round_can_ask_holds_up_new_ones_for_one_round_only(
    ports: Ports,
) -> None:
    hostile = in_as_many_namespaces(many(40, ports["drip"]))
    victims = many(3, ports["whole"], "victim", "chat")
    async with pods(SHORT) as source:  # which asks 32 of them
        first = await source.read([*hostile, *victims])
        assert "pods of other namespaces answer late" in unread(first[victims[-1]]).message
        assert are_read(await source.read([*hostile, *victims]), victims)


async def test_new_namespaces_hold_up_nobody_whose_pods_have_answered(ports: Ports) -> None:
    hostile = in_as_many_namespaces(many(160, ports["drip"]))
    victims = many(3, ports["whole"], "victim", "chat")
    async with pods(SHORT) as source:
        assert are_read(await source.read(victims), victims)
        assert are_read(await source.read([*hostile, *victims]), victims)


def unread(answer: Reading | ReadFailure) -> ReadFailure:
    assert isinstance(answer, ReadFailure)
    return answer


async def test_slow_pods_are_asked_in_turn_too(ports: Ports) -> None:
    targets = many(30, ports["drip"])
    asked = set[Target]()
    async with pods(Limits(pod_seconds=0.4, round_seconds=0.7, at_once=10)) as source:
        for _ in range(4):
            answers = await source.read(targets)
            asked |= {target for target in targets if unread(answers[target]).reason is ReadFailureReason.TIMED_OUT}
    assert asked == {*targets}


async def test_a_pod_without_its_turn_is_told_whose_pods_are_late(ports: Ports) -> None:
    targets = many(30, ports["drip"])
    async with pods(Limits(pod_seconds=0.6, round_seconds=1.1, at_once=10)) as source:
        answers = await source.read(targets)
    passed = [result for result in map(unread, answers.values()) if result.reason is ReadFailureReason.PASSED_OVER]
    assert passed
    assert "of its namespace answer late or not at all; see those that are TimedOut" in passed[0].message


async def test_a_pod_that_answers_again_in_time_is_no_longer_behind(ports: Ports) -> None:
    slow, quick = many(1, ports["drip"], "team", "chat"), many(1, ports["whole"], "team", "chat")
    async with pods(SHORT) as source:
        await source.read(slow)
        assert slow[0] in source.slow
        assert are_read(await source.read(quick), quick)  # the same pod, by its name
        assert slow[0] not in source.slow


@pytest.mark.parametrize("kind", ["many_headers", "long_header"])
async def test_headers_are_bounded(ports: Ports, kind: str) -> None:
    targets = many(1, ports[kind])
    async with pods(SHORT) as source:
        result = unread((await source.read(targets))[targets[0]])
    assert result.reason is ReadFailureReason.UNREACHABLE
    assert len(result.message) < 500
