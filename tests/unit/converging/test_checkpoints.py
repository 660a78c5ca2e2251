"""What was learnt, as text: of which replicas, how long, and when it is worth writing."""

from dataclasses import replace

import pytest

from llmservice.autoscaling.memory import Capacity, Demand, LinePoint, Memory, Watch
from llmservice.converging.checkpoints import checkpoint_text, digest_of, has_moved, memory_in
from tests.unit.converging.plans import a_plan

PLAN = a_plan()
LEARNT = Memory(at=1.5, demand=Demand(cold_starts=(90,), half_minutes=(100,) * 60))


def test_a_checkpoint_gives_back_the_memory_of_the_same_replicas() -> None:
    assert memory_in(checkpoint_text(digest_of(PLAN), LEARNT), digest_of(PLAN)) == LEARNT


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
def test_what_makes_a_replica_another_one_voids_what_was_learnt(changes: dict[str, object]) -> None:
    assert memory_in(checkpoint_text(digest_of(PLAN), LEARNT), digest_of(a_plan(**changes))) is None


def test_what_says_nothing_of_speed_voids_nothing() -> None:
    assert digest_of(a_plan(replica_bound=9, notes=("x",))) == digest_of(PLAN)


def test_a_checkpoint_never_outgrows_its_field() -> None:
    watches = {
        f"chat-{number:05d}-abcde": Watch(number, 3, 0.1 * number, 7.7, 1e5 / 3, 4.0, 0.5) for number in range(900)
    }
    text = checkpoint_text(digest_of(PLAN), replace(LEARNT, capacity=Capacity(watches=watches)))
    assert len(text) <= 4096
    found = memory_in(text, digest_of(PLAN))
    assert found is not None
    assert found.demand.cold_starts == (90,)


@pytest.mark.parametrize("text", ["", "/", "no checkpoint", digest_of(PLAN) + "/1:@@@@"])
def test_what_is_no_checkpoint_is_none(text: str) -> None:
    assert memory_in(text, digest_of(PLAN)) is None


@pytest.mark.parametrize(
    ("after", "moved"),
    [
        (LEARNT, False),
        (replace(LEARNT, at=99.0), False),
        (replace(LEARNT, demand=replace(LEARNT.demand, cold_starts=(90, 130))), True),
        (replace(LEARNT, demand=replace(LEARNT.demand, half_minutes=(100,) * 64)), False),
        (replace(LEARNT, demand=replace(LEARNT.demand, half_minutes=(120,) * 60)), True),
        (replace(LEARNT, capacity=Capacity(line={3: LinePoint(900.0, 40.0, 2.0)})), True),
    ],
)
def test_a_tenth_more_or_less_is_worth_writing(after: Memory, *, moved: bool) -> None:
    assert has_moved(LEARNT, after) is moved
