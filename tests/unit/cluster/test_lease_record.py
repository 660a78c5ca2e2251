from datetime import UTC, datetime

from llmservice.cluster.leadership.lease_record import (
    LeaseRecord,
    LeaseTiming,
    Sighting,
    claimed,
    manifest_of,
    may_claim,
    record_of,
    released,
    seen,
)

TIMING = LeaseTiming()
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def a_record(holder: str = "one", renewed_at: str = "2026-11-21T11:59:58.000000Z", version: str = "7") -> LeaseRecord:
    return LeaseRecord(
        holder=holder,
        duration_seconds=15,
        acquired_at="2026-11-21T11:00:00.000000Z",
        renewed_at=renewed_at,
        transitions=3,
        version=version,
    )


def test_a_lease_nobody_made_may_be_claimed() -> None:
    assert may_claim(None, "two", now=0.0)


def test_a_released_lease_may_be_claimed_at_once() -> None:
    assert may_claim(Sighting(a_record(holder=""), since=100.0), "two", now=100.0)


def test_ones_own_lease_may_be_claimed_at_once() -> None:
    assert may_claim(Sighting(a_record(holder="two"), since=100.0), "two", now=100.0)


def test_anothers_lease_may_be_claimed_only_when_it_was_the_same_for_its_duration() -> None:
    sighting = Sighting(a_record(), since=100.0)
    assert not may_claim(sighting, "two", now=114.9)
    assert may_claim(sighting, "two", now=115.0)


def test_a_sighting_is_as_old_as_the_record_it_shows() -> None:
    first = seen(None, a_record(), now=100.0)
    assert seen(first, a_record(), now=105.0).since == 100.0
    assert seen(first, a_record(renewed_at="2026-11-21T12:00:00.000000Z"), now=105.0).since == 105.0


def test_a_clock_of_another_machine_is_never_compared() -> None:
    """The record claims to have been renewed a year ago, and was seen just now."""
    stale = a_record(renewed_at="2025-11-21T12:00:00.000000Z")
    assert not may_claim(seen(None, stale, now=100.0), "two", now=101.0)


def test_renewing_moves_only_the_time_of_renewal() -> None:
    record = claimed(a_record(), "one", TIMING, NOON)
    assert record == a_record(renewed_at="2026-11-21T12:00:00.000000Z")


def test_taking_over_counts_a_transition() -> None:
    record = claimed(a_record(), "two", TIMING, NOON)
    assert (record.holder, record.transitions, record.acquired_at) == ("two", 4, "2026-11-21T12:00:00.000000Z")
    assert record.version == "7"


def test_a_released_record_has_no_holder_and_hardly_lasts() -> None:
    record = released(a_record(), NOON)
    assert (record.holder, record.duration_seconds, record.transitions) == ("", 1, 3)


def test_a_record_survives_the_way_through_the_api_server() -> None:
    assert record_of(manifest_of(a_record(), "ns", "name"), TIMING) == a_record()


def test_what_a_foreign_lease_leaves_out_has_a_meaning() -> None:
    record = record_of({"metadata": {"resourceVersion": "9"}, "spec": {}}, TIMING)
    assert (record.holder, record.duration_seconds, record.transitions, record.version) == ("", 15, 0, "9")


def test_a_new_lease_is_sent_without_a_version() -> None:
    manifest = manifest_of(claimed(None, "one", TIMING, NOON), "ns", "name")
    assert manifest["metadata"] == {"namespace": "ns", "name": "name"}
