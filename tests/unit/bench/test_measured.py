"""A profile from records. The engine is the simulator's, whose step times are known: what comes out must be like it."""

from collections.abc import Sequence

import pytest

from llmservice.autoscaling.policy import Objective
from llmservice.bench.measured import narrow, profile_of
from llmservice.bench.records import Record
from llmservice.bench.report import Report, report_of
from llmservice.bench.scenarios import rate, sweep, usual_turn
from llmservice.errors import InvalidInput
from llmservice.simulation.engine_profile import EngineProfile
from llmservice.simulation.engine_replica import EngineReplica
from llmservice.simulation.measured_profile import step_seconds
from llmservice.simulation.request import Request
from tests.unit.bench.builders import a_record

SLOTS = 4
STEP = {1: 0.020, 2: 0.022, 3: 0.025, 4: 0.030, 100: 0.150, 400: 0.600}
"""Seconds of a step by tokens: a small engine on a processor."""

TURN = usual_turn(100, 60)
LEVELS = (1, 2, 3, 4, 6)
LOAD = sweep(LEVELS, requests=20, turn=TURN)


def an_engine(points: dict[int, float] | None = None, slots: int = SLOTS) -> EngineReplica:
    profile = EngineProfile(
        name="known",
        description="known",
        devices=1,
        step_seconds=step_seconds([*(points or STEP).items()]),
        kv_read_seconds=0.0,
        attention_seconds=0.0,
        kv_cache_tokens=10**7,
        roofline=None,
        max_sequences=slots,
    )
    return EngineReplica(profile, clock=0.0)


def swept() -> list[Record]:
    """A closed loop at each level, one after the other."""
    records, start = list[Record](), 0.0
    for phase, level in enumerate(LEVELS):
        engine, sent, open_ = an_engine(), 0, list[Request]()
        clock = start
        engine.clock = start
        while sent < 20 or open_:
            while sent < 20 and len(open_) < level:
                request = Request(clock, 100, 60)
                engine.add(request, clock)
                open_.append(request)
                sent += 1
            clock += 0.005
            engine.advance(clock)
            done = [request for request in open_ if request.last_at is not None]
            open_ = [request for request in open_ if request.last_at is None]
            records += [recorded(request, phase) for request in done]
        start = clock + 5
    return records


def recorded(request: Request, phase: int = 0) -> Record:
    assert request.first_at is not None
    assert request.last_at is not None
    return a_record(
        phase=phase,
        at=request.at,
        first=request.first_at - request.at,
        seconds=request.last_at - request.at,
        prompt_tokens=request.prompt_tokens,
        answer_tokens=request.output_tokens,
        gaps=(),
    )


def a_report(records: Sequence[Record]) -> Report:
    return report_of("chat", "chat", LOAD, records, Objective())


@pytest.fixture(scope="module")
def profile() -> dict[str, object]:
    records = swept()
    return profile_of(a_report(records), records, slots=None, replicas=1)


def test_steps_are_what_the_engine_takes(profile: dict[str, object]) -> None:
    points = dict(profile["step_milliseconds"])  # type: ignore[call-overload]
    for tokens in (1, 2, 4, 100):
        assert points[tokens] == pytest.approx(STEP[tokens] * 1e3, rel=0.15)


def test_steps_never_fall(profile: dict[str, object]) -> None:
    times = [milliseconds for _, milliseconds in profile["step_milliseconds"]]  # type: ignore[attr-defined]
    assert times == sorted(times)


def test_slots_are_seen_where_nobody_told(profile: dict[str, object]) -> None:
    assert profile["max_sequences"] == SLOTS


def test_another_load_is_predicted_within_five_points(profile: dict[str, object]) -> None:
    points = {tokens: milliseconds / 1e3 for tokens, milliseconds in profile["step_milliseconds"]}  # type: ignore[attr-defined]
    load = rate(1.0, seconds=300, poisson=True, seed=5, turn=usual_turn(60, 90))
    arrivals = [conversation.at for conversation in load.phases[0].conversations]
    known, predicted = (attained(an_engine(each), arrivals) for each in (STEP, points))
    assert 0.2 < known < 0.95, "an objective that tells something"
    assert predicted == pytest.approx(known, abs=0.05)


def attained(engine: EngineReplica, arrivals: Sequence[float]) -> float:
    requests = [Request(at, 60, 90) for at in arrivals]
    for request in requests:
        engine.advance(request.at)
        engine.add(request, request.at)
    engine.advance(1e6)
    met = [(r.ttft_seconds or 9) <= 0.3 and (r.tpot_seconds or 9) <= 0.04 for r in requests]
    return sum(met) / len(met)


def test_capacity_is_what_each_level_did(profile: dict[str, object]) -> None:
    levels = profile["autoscaling"]["profile"]  # type: ignore[index]
    assert len(levels) >= 4
    assert [level["tokensPerSecond"] for level in levels] == sorted(level["tokensPerSecond"] for level in levels)
    assert levels[0]["timePerOutputTokenMicroseconds"] == pytest.approx(20_000, rel=0.1)


def test_two_replicas_do_the_half_each() -> None:
    records = swept()
    levels = profile_of(a_report(records), records, slots=8, replicas=2)
    assert levels["max_sequences"] == 4


def test_too_few_requests_make_no_profile() -> None:
    with pytest.raises(InvalidInput) as refused:
        profile_of(a_report([a_record()]), [a_record()] * 3, slots=None, replicas=1)
    assert refused.value.reason == "TooLittleForProfile"


@pytest.mark.parametrize(("lengths", "said"), [((100, 110), True), ((100, 190), True), ((30, 200), False), ((), False)])
def test_prompts_of_one_length_are_told(lengths: tuple[int, ...], said: bool) -> None:
    assert narrow([a_record(prompt_tokens=length) for length in lengths]) is said


def test_the_size_of_a_cache_that_nobody_saw_is_not_claimed(profile: dict[str, object]) -> None:
    assert "kv_cache_tokens" not in profile
