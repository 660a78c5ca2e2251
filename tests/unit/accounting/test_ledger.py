"""What devices did: starting until ready, busy or idle by what engines say, unknown where they say nothing."""

from dataclasses import replace
from datetime import date, datetime

import pytest

from llmservice.accounting.ledger import Ledger
from llmservice.accounting.pods import HeldPod, Reading
from llmservice.accounting.sleep import Habits
from llmservice.accounting.usage import State
from tests.unit.accounting.services import BERLIN, L4, NOON, PERIOD, SLICE, UTC, Service, asleep, held, seconds

HOUR = 3600.0


def test_devices_start_and_are_idle_then() -> None:
    ledger = Service(devices=4).run(NOON, NOON + HOUR)
    assert seconds(ledger, State.STARTING) == 4 * 60
    assert seconds(ledger, State.IDLE) == 4 * (HOUR - 60)
    assert (seconds(ledger, State.BUSY), seconds(ledger, State.UNKNOWN)) == (0, 0)


def test_a_request_between_two_readings_is_seen_by_what_it_moved() -> None:
    service = Service()
    service.run(NOON, NOON + 300)
    service.served += 1
    ledger = service.run(NOON + 330, NOON + 600)
    assert seconds(ledger, State.BUSY) == PERIOD
    assert seconds(ledger, State.IDLE) == 600 - 60 - PERIOD


def test_an_engine_that_works_is_busy_until_a_reading_finds_nothing() -> None:
    ledger = Service(busy=lambda now: NOON + 600 <= now < NOON + 900).run(NOON, NOON + 1200)
    assert seconds(ledger, State.BUSY) == 300 + PERIOD


def test_what_cannot_be_read_is_unknown_and_never_idle() -> None:
    ledger = Service(readable=lambda now: now < NOON + 600).run(NOON, NOON + 1200)
    assert seconds(ledger, State.IDLE) == 600 - 60 - PERIOD
    assert seconds(ledger, State.UNKNOWN) == 600


def test_a_gap_in_the_readings_is_unknown() -> None:
    ledger = Service(readable=lambda now: not NOON + 600 < now < NOON + 900).run(NOON, NOON + 1200)
    assert seconds(ledger, State.UNKNOWN) == 300
    assert held(ledger) == 1200


def test_one_reading_that_fails_is_no_gap() -> None:
    ledger = Service(readable=lambda now: now != NOON + 600).run(NOON, NOON + 1200)
    assert seconds(ledger, State.UNKNOWN) == 0


def test_a_pod_is_counted_to_its_end() -> None:
    service = Service()
    service.run(NOON, NOON + 600)
    ledger = service.ledger.without("a", NOON + 612)
    assert held(ledger) == 612
    assert (ledger.devices, ledger.without("a", NOON + 700)) == ({}, ledger)


def test_a_pod_whose_end_is_heard_of_late_is_unknown_meanwhile() -> None:
    service = Service()
    service.run(NOON, NOON + 600)
    assert seconds(service.ledger.without("a", NOON + 1200), State.UNKNOWN) == 600


def test_a_pod_that_finishes_its_requests_holds_its_devices() -> None:
    service = Service()
    service.run(NOON, NOON + 600)
    leaving = HeldPod(uid="a", devices={L4: 1}, since=NOON, is_leaving=True)
    ledger = service.ledger
    for now in range(630, 1201, 30):
        ledger = ledger.looked([leaving], NOON + now, Habits())
    assert held(ledger) == 1200
    assert seconds(ledger, State.IDLE) == 540


def test_a_pod_seen_late_is_counted_from_when_it_was_bound() -> None:
    ledger = Service(pods={"a": NOON - 5 * HOUR}).run(NOON, NOON + 600)
    assert held(ledger) == 5 * HOUR + 600
    assert seconds(ledger, State.STARTING) == 60
    assert seconds(ledger, State.UNKNOWN) == 5 * HOUR - 60


def test_no_more_than_yesterday_and_today_are_counted() -> None:
    ledger = Service(pods={"a": NOON - 100 * HOUR}).run(NOON, NOON)
    assert {day: kinds[L4].held for day, kinds in ledger.days.items()} == {
        date(2026, 3, 9): 24 * HOUR,
        date(2026, 3, 10): 12 * HOUR,
    }


def test_a_new_leader_counts_on_and_what_nobody_saw_is_unknown() -> None:
    service = Service()
    before = service.run(NOON, NOON + HOUR)
    service.ledger = Ledger(began=NOON + HOUR + 300, days=before.days, last_look=NOON + HOUR)
    after = service.run(NOON + HOUR + 300, NOON + 2 * HOUR)
    assert held(after) == 2 * HOUR
    assert seconds(after, State.UNKNOWN) == 300
    assert sum(after.totals.values()) == HOUR - 300


def test_a_clock_that_steps_back_is_waited_for() -> None:
    service = Service()
    service.run(NOON, NOON + 600)
    service.look(NOON + 300)
    assert held(service.ledger) == 600
    assert held(service.run(NOON + 330, NOON + 900)) == 900


def test_a_clock_that_was_far_ahead_does_not_end_the_counting() -> None:
    service = Service()
    service.look(NOON + 7 * HOUR)
    service.run(NOON, NOON + 600)
    assert held(service.ledger) == pytest.approx(7 * HOUR + 600)


def test_a_pod_keeps_the_type_it_was_first_seen_with() -> None:
    pod = HeldPod(uid="a", devices={L4: 1}, since=NOON)
    ledger = Ledger(began=NOON).looked([pod], NOON + 30, Habits())
    ledger = ledger.looked([replace(pod, devices={SLICE: 1})], NOON + 60, Habits())
    assert held(ledger) == seconds(ledger, State.STARTING) == 60


def test_a_day_ends_at_its_midnight() -> None:
    midnight = datetime(2026, 3, 29, tzinfo=BERLIN).timestamp()
    service = Service(pods={"a": midnight - HOUR}, zone=BERLIN, ledger=Ledger(began=midnight - HOUR))
    ledger = service.run(midnight - HOUR, midnight + 22 * HOUR)
    assert {day.day: kinds[L4].held for day, kinds in ledger.days.items()} == {28: HOUR, 29: 22 * HOUR}
    tomorrow = service.run(midnight + 22 * HOUR, midnight + 23 * HOUR)
    assert {day.day: kinds[L4].held for day, kinds in tomorrow.days.items()} == {29: 23 * HOUR}


def test_sleeping_saves_what_is_idle_beyond_the_time_until_it_sleeps() -> None:
    ledger = Service(devices=2).run(NOON, NOON + 60 + 1800)
    assert asleep(ledger) == 2 * (1800 - 600)


def test_each_wake_costs_a_start() -> None:
    woken = NOON + 60 + 1800
    service = Service(habits=Habits(start=120.0), busy=lambda now: now == woken + PERIOD)
    assert asleep(service.run(NOON, woken + 60)) == 1800 - 600 - 120


def test_short_pauses_and_what_is_unknown_save_nothing() -> None:
    hourly = Service(busy=lambda now: (now - NOON) % 540 == 0)
    assert asleep(hourly.run(NOON, NOON + HOUR)) == 0
    assert asleep(Service(readable=lambda _: False).run(NOON, NOON + HOUR)) == 0


def test_a_service_sleeps_only_when_all_its_replicas_are_idle() -> None:
    ledger, kinds = Ledger(began=NOON), {L4: 1}
    for step in range(1, 121):
        now = NOON + step * PERIOD
        quiet = Reading(at=now, is_quiet=True, marks=(1.0,))
        working = Reading(at=now, is_quiet=False, marks=(float(step),))
        pods = [
            HeldPod(uid=name, devices=kinds, since=NOON, ready_since=NOON, reading=reading)
            for name, reading in (("a", quiet), ("b", working))
        ]
        ledger = ledger.looked(pods, now, Habits(), UTC)
    assert asleep(ledger) == 0
    assert seconds(ledger, State.IDLE) == seconds(ledger, State.BUSY) > 0
