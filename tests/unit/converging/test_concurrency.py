"""Too many requests at once: found on engines that are simulated with a KV cache, and by hand."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from llmservice.converging.concurrency import Preemptions, counted, rounded_down
from llmservice.converging.pod_readings import Reading
from llmservice.simulation.engine_profile import EngineProfile, engine_profiles
from llmservice.simulation.engine_replica import EngineReplica
from llmservice.simulation.request import Request
from tests.unit.autoscaling.builders import counters


def readings_under_load(profile: EngineProfile, *, output_tokens: int, until: float = 1500.0) -> Iterator[Reading]:
    """One engine that is offered more than it can serve, read every ten seconds."""
    chance, engine = random.Random(1), EngineReplica(profile, clock=0.0)  # noqa: S311
    due = now = 0.0
    while now < until:
        now += 10.0
        while (due := due + chance.expovariate(8.0)) < now:
            engine.advance(due)
            if engine.requests < 600:
                tokens = max(1, round(chance.lognormvariate(0.0, 0.7) * output_tokens))
                engine.add(Request(at=due, prompt_tokens=200, output_tokens=tokens), due)
        engine.advance(now)
        yield Reading(
            counters=engine.counters.reading(now, running=engine.running, waiting=engine.waiting), kv_use=engine.kv_use
        )


def known_after(profile: EngineProfile, *, output_tokens: int) -> tuple[Preemptions, list[str]]:
    known, messages = Preemptions(), list[str]()
    for reading in readings_under_load(profile, output_tokens=output_tokens):
        known = counted(known, [("a", reading)], profile.max_sequences, reading.at)
        messages += [known.condition.message] if known.condition else []
    return known, messages


@pytest.mark.parametrize("name", engine_profiles())
def test_the_number_that_is_proposed_ends_the_preemptions(name: str) -> None:
    profile = engine_profiles()[name]
    known, messages = known_after(profile, output_tokens=1500)
    assert known.condition is not None
    assert known.condition.reason == "ConcurrencyTooHigh"
    assert len({*messages}) <= 1500 / 600 + 1  # few writes
    proposed = int(messages[-1].rpartition("maxNumSeqs to ")[2].partition(",")[0])
    assert profile.max_sequences / 2 < proposed < profile.max_sequences
    assert known_after(replace(profile, max_sequences=proposed), output_tokens=1500)[1] == []


@pytest.mark.parametrize("name", engine_profiles())
def test_an_overload_that_fits_the_cache_is_none(name: str) -> None:
    known, messages = known_after(engine_profiles()[name], output_tokens=200)
    assert (known.condition, messages) == (None, [])


def minutes(number: int, *, preempted: float, finished: float = 60.0, kv_use: float = 0.95) -> list[Reading]:
    """One reading a minute, with so many events in each."""
    return [
        Reading(
            counters=counters(60.0 * at, running=100.0, preemptions=preempted * at, finished=finished * at),
            kv_use=kv_use,
        )
        for at in range(number)
    ]


def known_of(readings: list[Reading], before: Preemptions | None = None) -> Preemptions:
    known = before or Preemptions()
    for reading in readings:
        known = counted(known, [("a", reading)], 128, reading.at)
    return known


def test_it_is_told_above_two_in_a_hundred_by_enough_requests() -> None:
    assert known_of(minutes(8, preempted=0.6)).condition is None
    assert known_of(minutes(8, preempted=1.8)).condition is not None
    assert known_of(minutes(5, preempted=1.8)).condition is None  # not yet five minutes
    assert known_of(minutes(8, preempted=1.0, finished=6.0)).condition is None  # too few requests


def test_it_is_over_when_preemptions_are_rare_again() -> None:
    known = known_of(minutes(8, preempted=1.8))
    quiet = [
        Reading(
            counters=counters(480.0 + 60 * at, running=90.0, preemptions=14.0, finished=500.0 + 60 * at), kv_use=0.7
        )
        for at in range(12)
    ]
    assert known_of(quiet[:2], known).condition is not None
    assert known_of(quiet, known).condition is None


def test_an_engine_that_counts_no_preemptions_is_not_judged() -> None:
    readings = [Reading(counters=counters(60.0 * at, running=9.0), kv_use=0.99) for at in range(20)]
    assert known_of(readings).condition is None


def test_counters_that_fell_begin_anew() -> None:
    known = known_of(minutes(2, preempted=50.0))
    fallen = Reading(counters=counters(120.0, running=1.0, preemptions=0.0, finished=0.0), kv_use=0.1)
    assert known_of([fallen], known).buckets[-1].preempted == 0.0


def test_numbers_are_rounded_as_people_write_them() -> None:
    assert [rounded_down(number) for number in (0.4, 7.9, 18, 63, 97, 255)] == [1, 7, 16, 60, 96, 240]
