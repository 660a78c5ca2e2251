"""What the accounting of devices keeps to, whatever pods, engines, clocks and operators do."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llmservice.accounting.ledger import Ledger
from llmservice.accounting.pods import HeldPod, Reading
from llmservice.accounting.sleep import Habits
from llmservice.accounting.statement import ledger_after, statement
from llmservice.accounting.usage import State
from tests.unit.accounting.services import L4, held, prices, seconds

BEGIN = 1_774_700_000.0
"""In the evening before the clocks go forward in Europe."""
DEVICES = 2
ZONES = [ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "Asia/Kathmandu", "America/Sao_Paulo")]
TARIFF = prices({L4: 1.0})


@dataclass(frozen=True)
class Step:
    """Seconds until the next look, what it finds of the pod, and whether another process looks from then on."""

    pause: float
    finds: str
    restart: bool


STEPS = st.lists(
    st.builds(
        Step,
        pause=st.floats(-200, 7200) | st.just(30.0),
        finds=st.sampled_from(("starting", "quiet", "working", "unread", "leaving", "nothing", "gone")),
        restart=st.booleans(),
    ),
    max_size=40,
)


def pod(finds: str, now: float, served: float, since: float = BEGIN) -> HeldPod:
    """The one pod, or the one that came `since`."""
    reading = Reading(at=now - 1, is_quiet=finds == "quiet", marks=(served,))
    return HeldPod(
        uid=str(since),
        devices={L4: DEVICES},
        since=since,
        ready_since=None if finds in ("starting", "leaving") else since + 60,
        is_leaving=finds == "leaving",
        reading=reading if finds in ("quiet", "working") else None,
    )


def after(ledger: Ledger, step: Step, now: float, served: float, since: float, zone: ZoneInfo) -> Ledger:
    if step.restart:
        ledger = ledger_after(statement(ledger, TARIFF, now), now)
    if step.finds == "gone":
        return ledger.without(str(since), now, zone)
    found = [] if step.finds == "nothing" else [pod(step.finds, now, served, since)]
    return ledger.looked(found, now, Habits(), zone)


@example(
    steps=[
        Step(30.0, "starting", restart=False),
        Step(-7.0, "starting", restart=True),
        Step(7.0, "starting", restart=False),
    ],
    zone=ZONES[0],
)
@given(steps=STEPS, zone=st.sampled_from(ZONES))
def test_what_is_counted_never_exceeds_the_time_by_the_clock(steps: list[Step], zone: ZoneInfo) -> None:
    ledger, now, latest, served, since = Ledger(began=BEGIN), BEGIN, BEGIN, 0.0, BEGIN
    for step in steps:
        now = max(BEGIN, latest - 3000, now + step.pause)
        latest = max(latest, now)
        served += step.finds == "working"
        ledger = after(ledger, step, now, served, since, zone)
        since = latest if step.finds == "gone" else since
        rounding = 4.0 * len(steps)
        assert held(ledger) <= DEVICES * (latest - BEGIN) + rounding
        assert len(ledger.days) <= 2
        assert (
            min(
                (getattr(use, state) for day in ledger.days.values() for use in day.values() for state in State),
                default=0,
            )
            >= 0
        )


@given(
    pauses=st.lists(st.floats(1, 90), min_size=2, max_size=60),
    restart_after=st.integers(0, 60),
    zone=st.sampled_from(ZONES),
)
def test_a_restart_loses_no_more_than_the_time_between_two_looks(
    pauses: list[float], restart_after: int, zone: ZoneInfo
) -> None:
    one, other, now = Ledger(began=BEGIN), Ledger(began=BEGIN), BEGIN
    for number, pause in enumerate(pauses):
        now += pause
        one = one.looked([pod("quiet", now, 0.0)], now, Habits(), zone)
        if number == restart_after:
            other = ledger_after(statement(other, TARIFF, now - pause), now)
        other = other.looked([pod("quiet", now, 0.0)], now, Habits(), zone)
    assert held(other) == pytest.approx(held(one), abs=10)
    for state in State:
        assert seconds(other, state) == pytest.approx(seconds(one, state), abs=DEVICES * (max(pauses) + 5) * 2)


@given(steps=STEPS, zone=st.sampled_from(ZONES))
def test_sleep_never_saves_more_than_was_idle(steps: list[Step], zone: ZoneInfo) -> None:
    ledger, now, served, since = Ledger(began=BEGIN), BEGIN, 0.0, BEGIN
    for step in steps:
        now += abs(step.pause)
        served += step.finds == "working"
        ledger = after(ledger, Step(step.pause, step.finds, restart=False), now, served, since, zone)
        since = now if step.finds == "gone" else since
        for day in ledger.days.values():
            assert all(usage.asleep <= usage.idle + 1e-6 for usage in day.values())
