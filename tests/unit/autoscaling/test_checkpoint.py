"""Checkpoints: exact, small, and nothing that others write into them can do harm."""

import base64
import dataclasses
import json
import zlib

import pytest

from llmservice.autoscaling.checkpoint import MAX_CHARACTERS, decoded, encoded
from llmservice.autoscaling.memory import Memory, Violations
from tests.unit.autoscaling.builders import a_flow, a_policy, a_replica, a_snapshot, after, followed


def an_hour_old_memory() -> Memory:
    return followed(a_policy(), [30.0 + tick * 7 % 90 for tick in range(400)])[1]


def checkpoint_of(rows: object) -> str:
    return "2:" + base64.b85encode(zlib.compress(json.dumps(rows).encode())).decode()


def test_brings_everything_back() -> None:
    memory = an_hour_old_memory()
    assert decoded(encoded(memory)) == memory


def test_brings_back_an_empty_memory() -> None:
    assert decoded(encoded(Memory())) == Memory()


def test_an_hour_fits_with_room_to_spare() -> None:
    assert len(encoded(an_hour_old_memory())) < MAX_CHARACTERS / 2


def test_many_replicas_lose_only_the_minute_being_sampled() -> None:
    policy = a_policy(maximum=800)
    crowd = tuple(a_replica(f"chat-{number}", flow=a_flow(30 + number / 7)) for number in range(800))
    _, memory = after(policy, [a_snapshot(*crowd)] * 4, an_hour_old_memory())
    checkpoint = encoded(memory)
    restored = decoded(checkpoint)
    assert len(checkpoint) <= MAX_CHARACTERS
    assert restored is not None
    assert (restored.demand, len(restored.capacity.minutes)) == (memory.demand, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1:abc",
        "2:",
        "2:not base 85 \x00",
        "2:" + base64.b85encode(b"not deflated").decode(),
        checkpoint_of([]),
        checkpoint_of({"at": 1}),
        checkpoint_of([1.0, None, None, None]),
        checkpoint_of([float("nan"), [[], 0, [], 1, []], [None, [], [], 0, [], [], 0, 0, 0, [], 0, 0], [[], [], []]]),
        checkpoint_of(["1", [[], 0, [], 1, []], [None, [], [], 0, [], [], 0, 0, 0, [], 0, 0], [[], [], []]]),
        checkpoint_of(
            [1.0, [[[3, 0, 0, 0]], 0, [], 1, []], [None, [], [], 0, [], [], 0, 0, 0, [], 0, 0], [[], [], []]]
        ),
        checkpoint_of([1.0, [[], 0, [], 0, []], [None, [], [], 0, [], [], 0, 0, 0, [], 0, 0], [[], [], []]]),
        checkpoint_of([1.0, [[], 0, [], 1, []], [[0, 0, 0, 0, 0], [], [], 0, [], [], 0, 0, 0, [], 0, 0], [[], [], []]]),
        checkpoint_of([1.0, [[], 0, [], 1, []], [None, [], [], 0, [], [], 0, 0, 0, [], -1, 0], [[], [], []]]),
        checkpoint_of([1.0, [[], 0, [], 1, []], [None, [], [], 0, [], [], 0, 0, 0, [], 1e300, 9], [[], [], []]]),
        "2:" + "0" * MAX_CHARACTERS,
    ],
)
def test_takes_nothing_that_is_damaged(text: str) -> None:
    assert decoded(text) is None


def test_takes_what_is_well_formed() -> None:
    rows = [1.0, [[], 0, [], 1, []], [None, [], [], 0, [], [], 0, 0, 0, [], 0, 0], [[], [], []]]
    assert decoded(checkpoint_of(rows)) == Memory(at=1.0)


def test_inflates_no_bomb() -> None:
    bomb = "2:" + base64.b85encode(zlib.compress(b"[" + b"0," * 1_000_000 + b"0]", 9)).decode()
    assert len(bomb) <= MAX_CHARACTERS
    assert decoded(bomb) is None


def test_heals_a_weight_that_has_grown_out_of_bounds() -> None:
    memory = an_hour_old_memory()
    huge = 1e304
    capacity = dataclasses.replace(
        memory.capacity,
        violations={
            level: Violations(seen.requests * huge, seen.over * huge)
            for level, seen in memory.capacity.violations.items()
        },
        violation_weight=memory.capacity.violation_weight * huge,
    )
    healed = decoded(encoded(dataclasses.replace(memory, capacity=capacity)))
    assert healed is not None
    assert healed.capacity.violation_weight == 1.0
    assert memory.capacity.violations
    for level, seen in memory.capacity.violations.items():
        assert healed.capacity.violations[level].requests == pytest.approx(
            seen.requests / memory.capacity.violation_weight
        )
