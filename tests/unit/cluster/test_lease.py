import asyncio
import itertools

import pytest

from llmservice.cluster.leadership.lease import ApiServerLease, Election
from llmservice.cluster.leadership.lease_record import LeaseRecord
from llmservice.errors import Conflict, Unavailable
from tests.unit.cluster.fake_api_server import FakeApiServer, a_status, answer, serving
from tests.unit.cluster.fake_time import FakeTimeLoop, simulate
from tests.unit.cluster.leases import Candidate, LeaseInMemory, a_candidate

LEASE = {
    "metadata": {"name": "l", "resourceVersion": "5"},
    "spec": {"holderIdentity": "one", "leaseDurationSeconds": 15},
}


def test_the_first_candidate_leads_at_once_and_goes_on() -> None:
    async def scene(loop: FakeTimeLoop) -> Candidate:
        candidate = a_candidate(loop, LeaseInMemory()).start()
        await asyncio.sleep(600)
        assert candidate.election.is_leader()
        await candidate.stop()
        return candidate

    candidate = simulate(scene)
    assert candidate.led[0][0] < 0.1
    assert len(candidate.led) == 1


def test_a_leader_renews_with_one_call_every_two_seconds() -> None:
    async def scene(loop: FakeTimeLoop) -> list[str]:
        store = LeaseInMemory()
        candidate = a_candidate(loop, store).start()
        await asyncio.sleep(60)
        calls = [*store.calls]
        await candidate.stop()
        return calls

    calls = simulate(scene)
    assert calls[:2] == ["read", "create"]
    assert set(calls[2:]) == {"replace"}
    assert 28 <= len(calls[2:]) <= 30


def test_when_the_leader_dies_another_leads_within_twenty_seconds() -> None:
    async def scene(loop: FakeTimeLoop) -> float:
        store = LeaseInMemory()
        first = a_candidate(loop, store, "one").start()
        await asyncio.sleep(30)
        second = a_candidate(loop, store, "two").start()
        await asyncio.sleep(31.3)
        assert second.led == []
        died = loop.time()
        kill(first)
        await asyncio.sleep(30)
        await second.stop()
        return second.led[0][0] - died

    assert 12 <= simulate(scene) <= 20


def test_when_the_leader_is_asked_to_end_another_leads_at_its_next_look() -> None:
    async def scene(loop: FakeTimeLoop) -> float:
        store = LeaseInMemory()
        first, second = a_candidate(loop, store, "one").start(), a_candidate(loop, store, "two")
        await asyncio.sleep(1)
        second.start()
        await asyncio.sleep(30)
        ended = loop.time()
        await first.stop()
        await asyncio.sleep(5)
        await second.stop()
        return second.led[0][0] - ended

    assert simulate(scene) <= 2.5


@pytest.mark.parametrize("fault", ["down", "hangs"])
def test_a_leader_without_an_api_server_stops_at_its_deadline(fault: str) -> None:
    async def scene(loop: FakeTimeLoop) -> float:
        store = LeaseInMemory()
        candidate = a_candidate(loop, store).start()
        await asyncio.sleep(30)
        began = loop.time()
        store.down, store.answer_seconds = (True, 0.01) if fault == "down" else (False, 3600.0)
        await asyncio.sleep(20)
        stopped = candidate.led[0][1] - began
        assert not candidate.election.is_leader()
        await candidate.stop()
        return stopped

    assert 7.5 <= simulate(scene) <= 10


def test_a_leader_rides_out_a_short_outage() -> None:
    async def scene(loop: FakeTimeLoop) -> Candidate:
        store = LeaseInMemory()
        candidate = a_candidate(loop, store).start()
        await asyncio.sleep(30)
        store.down = True
        await asyncio.sleep(6)
        store.down = False
        await asyncio.sleep(60)
        await candidate.stop()
        return candidate

    assert len(simulate(scene).led) == 1


def test_after_a_long_outage_it_leads_again() -> None:
    async def scene(loop: FakeTimeLoop) -> Candidate:
        store = LeaseInMemory()
        candidate = a_candidate(loop, store).start()
        await asyncio.sleep(30)
        store.down = True
        await asyncio.sleep(300)
        store.down = False
        await asyncio.sleep(5)
        assert candidate.election.is_leader()
        await candidate.stop()
        return candidate

    assert len(simulate(scene).led) == 2


def test_a_frozen_leader_knows_at_once_that_it_leads_no_longer() -> None:
    async def scene(loop: FakeTimeLoop) -> list[bool]:
        candidate = a_candidate(loop, LeaseInMemory()).start()
        await asyncio.sleep(30)
        before = candidate.election.is_leader()
        loop.freeze(20)
        after = candidate.election.is_leader()
        await candidate.stop()
        return [before, after]

    assert simulate(scene) == [True, False]


def test_a_frozen_leader_finds_another_in_its_place_and_stands_by() -> None:
    async def scene(loop: FakeTimeLoop) -> Candidate:
        store = LeaseInMemory()
        candidate = a_candidate(loop, store).start()
        await asyncio.sleep(30)
        loop.freeze(20)
        store.record = LeaseRecord(holder="two", duration_seconds=15, acquired_at="", renewed_at="x", version="99")
        await asyncio.sleep(10)
        assert not candidate.election.is_leader()
        await candidate.stop()
        return candidate

    assert len(simulate(scene).led) == 1


def test_two_candidates_never_lead_at_the_same_time_whatever_the_api_server_does() -> None:
    async def scene(loop: FakeTimeLoop) -> list[list[float]]:
        store = LeaseInMemory()
        candidates = [a_candidate(loop, store, name).start() for name in ("one", "two", "three")]
        for down, answer_seconds in [(False, 0.01), (True, 0.5), (False, 3.0), (False, 9.0), (True, 0.1), (False, 0.2)]:
            store.down, store.answer_seconds = down, answer_seconds
            await asyncio.sleep(37)
        for candidate in candidates:
            await candidate.stop()
        return sorted(term for candidate in candidates for term in candidate.led)

    terms = simulate(scene)
    assert len(terms) >= 3
    assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(terms))


def test_a_deleted_lease_is_made_again_without_losing_a_term() -> None:
    async def scene(loop: FakeTimeLoop) -> Candidate:
        store = LeaseInMemory()
        candidate = a_candidate(loop, store).start()
        await asyncio.sleep(30)
        store.delete()
        await asyncio.sleep(30)
        assert store.calls.count("create") == 2
        await candidate.stop()
        return candidate

    assert len(simulate(scene).led) == 1


def test_a_term_lasts_from_before_the_request_not_from_its_answer() -> None:
    async def scene(loop: FakeTimeLoop) -> float:
        candidate = a_candidate(loop, LeaseInMemory(answer_seconds=3.0)).start()
        await asyncio.sleep(6.001)
        left = candidate.election.seconds_left()
        await candidate.stop()
        return left

    assert 6.9 <= simulate(scene) <= 7.0


def test_what_leads_is_stopped_before_the_lease_is_released() -> None:
    async def scene(_: FakeTimeLoop) -> list[str]:
        store = LeaseInMemory()

        async def lead() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0.5)
                store.calls.append("stopped")

        task = asyncio.create_task(Election(store=store, identity="one").run(lead))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert store.record is not None
        assert store.record.holder == ""
        return store.calls

    assert simulate(scene)[-3:] == ["stopped", "read", "replace"]


def test_an_error_of_what_leads_ends_the_candidacy_and_releases() -> None:
    async def scene(loop: FakeTimeLoop) -> LeaseInMemory:
        store = LeaseInMemory()

        async def lead() -> None:
            raise ValueError("a defect")

        with pytest.raises(ValueError, match="a defect"):
            await Election(store=store, identity="one", clock=loop.time).run(lead)
        return store

    record = simulate(scene).record
    assert record is not None
    assert record.holder == ""


async def test_the_lease_is_read_written_and_missed_on_an_api_server() -> None:
    fake = FakeApiServer(calls=[answer(404, a_status(404)), answer(201, LEASE), answer(200, LEASE)])
    async with serving(fake) as connection:
        store = ApiServerLease(connection=connection, namespace="ns", name="l")
        assert await store.read() is None
        record = await store.create(LeaseRecord(holder="one", duration_seconds=15, acquired_at="", renewed_at=""))
        assert (await store.replace(record)).version == "5"

    path = "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
    assert [(request.method, request.path) for request in fake.requests] == [
        ("GET", f"{path}/l"),
        ("POST", path),
        ("PUT", f"{path}/l"),
    ]


async def test_replacing_a_lease_that_is_gone_is_a_conflict() -> None:
    async with serving(FakeApiServer(calls=[answer(404, a_status(404))])) as connection:
        store = ApiServerLease(connection=connection, namespace="ns", name="l")
        with pytest.raises(Conflict):
            await store.replace(LeaseRecord(holder="", duration_seconds=1, acquired_at="", renewed_at="", version="4"))


async def test_nonsense_instead_of_a_lease_is_no_answer() -> None:
    nonsense = {"metadata": {}, "spec": {"leaseDurationSeconds": "soon"}}
    async with serving(FakeApiServer(calls=[answer(200, nonsense)])) as connection:
        with pytest.raises(Unavailable, match="Lease"):
            await ApiServerLease(connection=connection, namespace="ns", name="l").read()


def kill(candidate: Candidate) -> None:
    """End a candidate without any of its last words, as SIGKILL does."""
    assert candidate.task is not None
    candidate.election.store = LeaseInMemory(down=True)
    candidate.task.cancel()


def test_a_leader_goes_on_with_a_lease_that_went_back_to_an_earlier_renewal_of_its_own() -> None:
    """etcd was restored."""

    async def scene(loop: FakeTimeLoop) -> Candidate:
        store = LeaseInMemory()
        candidate = a_candidate(loop, store).start()
        await asyncio.sleep(30)
        saved = store.record
        await asyncio.sleep(60)
        store.record = saved
        await asyncio.sleep(60)
        await candidate.stop()
        return candidate

    assert len(simulate(scene).led) == 1


def test_a_lease_that_went_back_to_an_earlier_leader_makes_no_second_one() -> None:
    """The one that it names again waits as long as the other may still believe to lead."""

    async def scene(loop: FakeTimeLoop) -> tuple[list[list[float]], list[list[float]]]:
        store = LeaseInMemory()
        first = a_candidate(loop, store, "one").start()
        await asyncio.sleep(30)
        saved = store.record
        second = a_candidate(loop, store, "two").start()
        store.down = True
        await asyncio.sleep(20)
        store.record, store.down = (
            LeaseRecord(holder="two", duration_seconds=15, acquired_at="", renewed_at="", version="1000"),
            False,
        )
        await asyncio.sleep(60)
        store.record = saved
        await asyncio.sleep(60)
        await first.stop()
        await second.stop()
        return first.led, second.led

    one, two = simulate(scene)
    spans = sorted((*one, *two))
    assert len(two) >= 1
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert sum(end - start for start, end in spans) > 120, "and soon somebody leads again"
