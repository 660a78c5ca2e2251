"""Rate limits: a burst at once, then one each so many seconds."""

import pytest

from llmservice.fairness.token_buckets import TokenBuckets


def a_bucket(burst: int = 3, seconds: float = 2.0) -> TokenBuckets[str]:
    return TokenBuckets(burst=burst, seconds=seconds)


def test_a_burst_at_once_and_then_one_each_interval() -> None:
    buckets = a_bucket()
    taken = [tenth / 10 for tenth in range(200) if buckets.take("a", tenth / 10)]
    assert taken[:5] == [0.0, 0.1, 0.2, 2.0, 4.0]
    assert len(taken) == 3 + 9


def test_a_bucket_that_rests_fills_up_and_no_further() -> None:
    buckets = a_bucket(burst=3, seconds=0.5)
    assert [buckets.take("a", 0.0) for _ in range(4)] == [True, True, True, False]
    assert [buckets.take("a", 1.0) for _ in range(3)] == [True, True, False]
    assert [buckets.take("a", 100.0) for _ in range(4)] == [True, True, True, False]


def test_one_key_takes_nothing_from_another() -> None:
    buckets = a_bucket(burst=1)
    assert (buckets.take("a", 0.0), buckets.take("a", 0.0), buckets.take("b", 0.0)) == (True, False, True)


def test_being_refused_costs_nothing() -> None:
    buckets = a_bucket(burst=1, seconds=1.0)
    assert buckets.take("a", 0.0)
    assert not any(buckets.take("a", tenth / 10) for tenth in range(1, 10))
    assert buckets.take("a", 1.0)


def test_the_wait_is_told_and_a_token_may_be_spent_before_its_time() -> None:
    buckets = a_bucket(burst=2, seconds=10.0)
    assert buckets.wait_seconds("a", 0.0) == 0
    for _ in range(3):
        buckets.spend("a", 0.0)
    assert buckets.wait_seconds("a", 0.0) == 20.0
    assert buckets.wait_seconds("a", 15.0) == 5.0


def test_full_buckets_are_not_remembered() -> None:
    buckets = a_bucket(burst=1, seconds=1.0)
    for number in range(10_000):
        buckets.spend(str(number), float(number))
    assert len(buckets) < 2048


@pytest.mark.parametrize("is_asking_on", [True, False])
def test_of_too_many_keys_the_one_that_asked_least_recently_starts_anew(is_asking_on: bool) -> None:
    buckets: TokenBuckets[str] = TokenBuckets(burst=1, seconds=3600.0, most_keys=10)
    assert buckets.take("a", 0.0)
    for number in range(100):
        buckets.take(str(number), 1.0)
        if is_asking_on:
            assert not buckets.take("a", 1.0)
    assert len(buckets) == 10
    assert buckets.take("a", 1.0) is not is_asking_on
