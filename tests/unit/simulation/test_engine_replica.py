"""One simulated replica: batching, chunked prefill, KV cache, preemption, and closed form against step by step."""

import pytest

from llmservice.simulation.engine_profile import engine_profile
from llmservice.simulation.engine_replica import EngineReplica
from tests.unit.simulation.builders import a_profile, a_replica, a_request, some_arrivals, worked_off


def test_one_request_takes_one_iteration_per_token() -> None:
    replica, request = a_replica(), a_request(prompt=50, output=5)
    replica.add(request, 0.0)
    replica.advance(10.0)
    assert request.first_at == pytest.approx(0.01)
    assert request.last_at == pytest.approx(0.05)


def test_a_long_prompt_is_read_in_chunks() -> None:
    replica, request = a_replica(), a_request(prompt=250, output=1)
    replica.add(request, 0.0)
    replica.advance(10.0)
    assert request.last_at == pytest.approx(0.03)


def test_prompts_share_the_budget_with_decoding_requests() -> None:
    replica, early, late = a_replica(), a_request(prompt=1, output=50), a_request(prompt=199, output=1)
    replica.add(early, 0.0)
    replica.advance(0.005)
    replica.add(late, 0.005)
    replica.advance(10.0)
    assert late.first_at == pytest.approx(0.01 + 0.03)  # 99 + 99 + 1 tokens beside one that decodes


def test_more_requests_than_slots_wait() -> None:
    replica = a_replica(a_profile(max_sequences=2))
    for _ in range(5):
        replica.add(a_request(prompt=1, output=100), 0.0)
    replica.advance(0.05)
    assert (replica.running, replica.waiting, replica.requests) == (2, 3, 5)


def test_an_idle_replica_starts_at_the_arrival() -> None:
    replica, request = a_replica(), a_request(at=7.0, output=1)
    replica.add(request, 7.0)
    replica.advance(100.0)
    assert request.ttft_seconds == pytest.approx(0.01)
    assert replica.clock == 100.0


def test_attention_and_cache_reads_take_time() -> None:
    profile = a_profile(kv_read_seconds=1e-4, attention_seconds=1e-6)
    replica, request = a_replica(profile), a_request(prompt=100, output=2)
    replica.add(request, 0.0)
    replica.advance(10.0)
    assert request.first_at == pytest.approx(0.01 + 100 * 1e-4 + 100 * 50 * 1e-6)
    assert request.tpot_seconds == pytest.approx(0.01 + 100 * 1e-4)


def test_a_full_cache_preempts_the_newest_and_finishes_all() -> None:
    replica = a_replica(a_profile(kv_cache_tokens=400))
    requests = [a_request(prompt=100, output=150) for _ in range(3)]
    for request in requests:
        replica.add(request, 0.0)
    replica.advance(1000.0)
    assert replica.counters.preemptions >= 1
    assert all(request.last_at is not None for request in requests)
    assert requests[0].last_at == pytest.approx(0.01 + 1.49, abs=0.03)


def test_the_cache_is_empty_when_all_is_done() -> None:
    replica = a_replica(a_profile(kv_cache_tokens=3000))
    worked_off(replica, some_arrivals(80, 20.0))
    assert (replica.cached_tokens, replica.requests, replica.kv_use) == (0, 0, 0.0)


def test_counts_what_it_did() -> None:
    replica, arrivals = a_replica(), some_arrivals(40, 20.0)
    worked_off(replica, arrivals)
    counters = replica.counters
    assert counters.finished == 40
    assert counters.prompt_tokens == counters.finished_prompt_tokens == sum(a.prompt_tokens for a in arrivals)
    assert counters.generated_tokens == counters.finished_generated_tokens == sum(a.output_tokens for a in arrivals)


def test_a_request_larger_than_the_cache_is_served_alone() -> None:
    replica, request = a_replica(a_profile(kv_cache_tokens=64)), a_request(prompt=100, output=20)
    replica.add(request, 0.0)
    replica.advance(10.0)
    assert request.last_at == pytest.approx(0.2)


@pytest.mark.parametrize("name", ["h100-34b-tp2", "a100-70b-tp4", "a100-8b"])
def test_jumps_in_closed_form_equal_step_by_step(name: str) -> None:
    profile, arrivals = engine_profile(name), some_arrivals(300, 60.0)
    jumped = EngineReplica(profile, clock=0.0)
    stepped = EngineReplica(profile, clock=0.0, longest_jump=1)
    for fast, slow in zip(worked_off(jumped, arrivals), worked_off(stepped, arrivals), strict=True):
        assert (fast.first_at, fast.last_at) == pytest.approx((slow.first_at, slow.last_at), abs=1e-6)
    assert jumped.counters.inter_token_seconds == pytest.approx(stepped.counters.inter_token_seconds)
    assert jumped.counters.inter_token_count == stepped.counters.inter_token_count


def test_jumps_equal_steps_where_the_cache_overflows() -> None:
    profile, arrivals = a_profile(kv_cache_tokens=2500, kv_read_seconds=1e-6), some_arrivals(60, 10.0)
    jumped, stepped = a_replica(profile), a_replica(profile, longest_jump=1)
    pairs = zip(worked_off(jumped, arrivals), worked_off(stepped, arrivals), strict=True)
    assert all(fast.last_at == pytest.approx(slow.last_at, abs=1e-6) for fast, slow in pairs)
    assert jumped.counters.preemptions == stepped.counters.preemptions > 0
