"""When a service goes to zero, and what brings it back: by what was read, never by what was not."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.idling import Idleness, Rest, asleep, awake, idle_after_seconds
from llmservice.autoscaling.snapshot import Replica, Snapshot
from tests.unit.autoscaling.builders import a_silent_replica, a_starting_replica

NOW = 1_000_000.0
LAW = Decision(replicas=1, reason=Reason.AT_MINIMUM, message="1")


def quiet(name: str = "chat-0", **changes: Any) -> Replica:
    values: dict[str, Any] = {"name": name, "counted": 40.0}
    return Replica(**values | changes)


def a_rest(**changes: Any) -> Rest:
    return Rest(**{"allowed": True, "after_seconds": 600.0, "covered": True} | changes)


def of(*members: Replica, gated: float = 0.0) -> Snapshot:
    return Snapshot(replicas=len(members), members=members, gated=gated)


def after(seconds: float, rest: Rest | None = None, *rounds: Snapshot) -> tuple[Decision, Idleness]:
    """The last decision of rounds ten seconds apart, the last of which is so many seconds after the first."""
    idleness = Idleness()
    times = [NOW + seconds * at / max(1, len(rounds) - 1) for at in range(len(rounds))]
    decided = LAW
    for now, snapshot in zip(times, rounds, strict=True):
        decided, idleness = awake(rest or a_rest(), snapshot, LAW, idleness, now)
    return decided, idleness


def test_rest_for_long_enough_is_sleep() -> None:
    decided, idleness = after(600, None, of(quiet()), of(quiet()))
    assert (decided.replicas, decided.reason) == (0, Reason.IDLE)
    assert idleness.asleep_since == NOW + 600


@pytest.mark.parametrize(
    ("between", "why"),
    [
        (of(quiet(running=1.0)), "a request runs"),
        (of(quiet(waiting=1.0)), "a request waits"),
        (of(quiet(), gated=1.0), "a request is held"),
        (of(quiet(counted=41.0)), "something was counted"),
        (of(quiet(counted=3.0)), "the engine was restarted"),
        (of(quiet(), quiet("chat-1")), "another replica came"),
    ],
)
def test_the_clock_begins_anew(between: Snapshot, why: str) -> None:
    decided, idleness = after(700, None, of(quiet()), between, of(quiet()))
    assert decided == LAW, why
    assert idleness.quiet_since == NOW + 700


@pytest.mark.parametrize("unread", [a_silent_replica("chat-0"), a_starting_replica("chat-0"), quiet(counted=None)])
def test_what_is_not_read_neither_proves_rest_nor_ends_it(unread: Replica) -> None:
    decided, idleness = after(700, None, of(quiet()), of(unread))
    assert decided == LAW
    assert idleness.quiet_since == NOW
    decided, _ = after(700, None, of(quiet()), of(unread), of(quiet()))
    assert decided.reason is Reason.IDLE


def test_a_pod_that_is_missing_is_not_read() -> None:
    decided, _ = after(700, None, of(quiet()), Snapshot(replicas=2, members=(quiet(),)))
    assert decided == LAW


def test_nothing_sleeps_before_requests_are_held() -> None:
    decided, idleness = after(700, a_rest(covered=False), of(quiet()), of(quiet()))
    assert decided.replicas == 1
    assert decided.trace[-1].step == "idle"
    assert idleness.going


def test_a_request_on_the_way_to_sleep_keeps_the_replica() -> None:
    _, going = after(700, a_rest(covered=False), of(quiet()), of(quiet()))
    decided, idleness = awake(a_rest(), of(quiet(running=1.0)), LAW, going, NOW + 710)
    assert decided == LAW
    assert not idleness.going


def test_all_replicas_go_at_once() -> None:
    both = of(quiet(), quiet("chat-1"))
    decided, _ = after(600, None, both, both)
    assert decided.replicas == 0


def test_a_floor_of_a_schedule_keeps_it_awake_and_its_rest_is_known_when_it_ends() -> None:
    decided, idleness = after(700, a_rest(allowed=False, covered=False), of(quiet()), of(quiet()))
    assert decided == LAW
    assert (idleness.going, idleness.quiet_since) == (False, NOW)


def test_who_asked_for_it_lately_is_not_put_to_sleep() -> None:
    decided, idleness = after(700, a_rest(asked_at=NOW + 300), of(quiet()), of(quiet()))
    assert decided == LAW
    assert idleness.quiet_since == NOW + 300


def test_a_time_ahead_keeps_it_awake_until_then() -> None:
    decided, idleness = after(700, a_rest(asked_at=NOW + 5000), of(quiet()), of(quiet()))
    assert decided == LAW
    assert idleness.quiet_since == NOW + 700


def slept(rest: Rest, gated: float = 0.0, since: float | None = NOW - 50) -> tuple[Decision, Idleness] | None:
    return asleep(rest, Snapshot(replicas=0, members=(), gated=gated), Idleness(asleep_since=since), NOW)


def test_it_stays_asleep_while_nobody_asks() -> None:
    found = slept(a_rest())
    assert found is not None
    assert (found[0].replicas, found[0].reason, found[1].asleep_since) == (0, Reason.ASLEEP, NOW - 50)


@pytest.mark.parametrize(("rest", "gated"), [(a_rest(), 3.0), (a_rest(asked_at=NOW - 10), 0.0)])
def test_a_held_request_wakes_it_and_so_does_who_asks(rest: Rest, gated: float) -> None:
    found = slept(rest, gated)
    assert found is not None
    assert (found[0].replicas, found[0].reason, found[1].asleep_since) == (1, Reason.WOKEN, None)


def test_an_old_wish_wakes_nobody() -> None:
    found = slept(a_rest(asked_at=NOW - 60))
    assert found is not None
    assert found[0].replicas == 0


def test_whoever_set_it_to_zero_it_sleeps_from_then_on() -> None:
    found = slept(a_rest(asked_at=NOW - 60), since=None)
    assert found is not None
    assert found[1].asleep_since == NOW


def test_a_floor_is_for_the_laws() -> None:
    assert slept(a_rest(allowed=False)) is None


@pytest.mark.parametrize(
    ("asked", "start", "seconds"),
    [(90, 40.0, 90), (None, None, 600), (None, 10.0, 300), (None, 42.0, 420), (None, 900.0, 3600)],
)
def test_the_default_follows_from_what_a_start_costs(asked: float | None, start: float | None, seconds: float) -> None:
    assert idle_after_seconds(asked, start) == seconds
