"""What was learned, as text: of which replicas, how long, and when it is worth writing."""

from dataclasses import replace

import pytest

from llmservice.autoscaling.memory import Capacity, Demand, LinePoint, Memory, ReplicaMinute
from llmservice.converging.checkpoints import checkpoint_text, digest_of, has_moved, resumed
from tests.unit.converging.plans import a_plan

PLAN = a_plan()
LEARNED = Memory(at=1.5, demand=Demand(cold_starts=(90,), half_minutes=(100,) * 60))


def test_a_checkpoint_gives_back_the_memory_of_the_same_replicas() -> None:
    assert resumed(checkpoint_text(digest_of(PLAN), LEARNED), digest_of(PLAN)) == LEARNED


@pytest.mark.parametrize(
    "changes",
    [
        {"engine": "vllm"},
        {"engine_version": "b1"},
        {"model": "hf://a/b"},
        {"quantization": "Q8_0"},
        {"accelerator": "H100"},
        {"devices": 2},
        {"max_num_seqs": 5},
        {"container": replace(PLAN.container, args=("--port", "8001"))},
    ],
)
def test_of_other_replicas_only_what_is_known_of_the_traffic_counts(changes: dict[str, object]) -> None:
    found = resumed(checkpoint_text(digest_of(PLAN), LEARNED), digest_of(a_plan(**changes)))
    assert found == LEARNED.of_other_replicas()
    assert found.demand.cold_starts == ()


def test_what_says_nothing_of_speed_voids_nothing() -> None:
    assert digest_of(a_plan(replica_bound=9, notes=("x",))) == digest_of(PLAN)


def test_a_checkpoint_never_outgrows_its_field() -> None:
    minutes = {
        f"chat-{number:05d}-abcde": ReplicaMinute(number, 3, 0.1 * number, 7.7, 1e5 / 3, 4.0, 0.5)
        for number in range(900)
    }
    text = checkpoint_text(digest_of(PLAN), replace(LEARNED, capacity=Capacity(minutes=minutes)))
    assert len(text) <= 4096
    found = resumed(text, digest_of(PLAN))
    assert found is not None
    assert found.demand.cold_starts == (90,)


@pytest.mark.parametrize("text", ["/", "no checkpoint", digest_of(PLAN) + "/1:@@@@", digest_of(PLAN) + "/0:abc"])
def test_a_checkpoint_that_is_damaged_or_of_another_version_is_none(text: str) -> None:
    assert resumed(text, digest_of(PLAN)) is None


def test_without_a_checkpoint_nothing_is_remembered() -> None:
    assert resumed("", digest_of(PLAN)) == Memory()


@pytest.mark.parametrize(
    ("after", "moved"),
    [
        (LEARNED, False),
        (replace(LEARNED, at=99.0), False),
        (replace(LEARNED, demand=replace(LEARNED.demand, cold_starts=(90, 130))), True),
        (replace(LEARNED, demand=replace(LEARNED.demand, half_minutes=(100,) * 64)), False),
        (replace(LEARNED, demand=replace(LEARNED.demand, half_minutes=(120,) * 60)), True),
        (replace(LEARNED, capacity=Capacity(line={3: LinePoint(900.0, 40.0, 2.0)})), True),
    ],
)
def test_a_tenth_more_or_less_is_worth_writing(after: Memory, *, moved: bool) -> None:
    assert has_moved(LEARNED, after) is moved
