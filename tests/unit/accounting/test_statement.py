"""What the status says of cost, and that another process can go on from it."""

from typing import Any

import pytest

from llmservice.accounting.ledger import Ledger
from llmservice.accounting.money import amount, rate
from llmservice.accounting.pods import HeldPod
from llmservice.accounting.sleep import Habits
from llmservice.accounting.statement import ledger_after, statement
from llmservice.api.v1alpha1.cost_status import CostStatus
from tests.unit.accounting.services import L4, NOON, SLICE, Service, held, prices

HOUR = 3600.0


def a_statement(of: dict[Any, float], **changes: Any) -> dict[str, Any]:
    service = Service(devices=2, **changes)
    return statement(service.run(NOON, NOON + HOUR), prices(of), NOON + HOUR)


def test_amounts_are_by_the_price() -> None:
    said = a_statement({L4: 0.8})
    assert (said["currency"], said["perHour"], said["today"]) == ("EUR", "1.60", "1.60")
    assert (said["idle"], said["idleSharePercent"]) == ("1.57", 98)
    assert said["zeroWouldSave"] == amount(1.6 * (HOUR - 660) / HOUR)
    assert (said["devices"], said["countedUntil"]) == (2, "2026-03-10T13:00:00Z")
    CostStatus.model_validate(said)


def test_without_a_price_there_are_only_device_seconds() -> None:
    said = a_statement({})
    assert said.keys() == {"devices", "idleSharePercent", "countedUntil", "days"}
    assert said["days"][0]["devices"][0]["idleSeconds"] == 2 * (HOUR - 60)
    CostStatus.model_validate(said)


def test_what_has_no_price_is_named_and_left_out() -> None:
    pods = [HeldPod(uid=kind.shown, devices={kind: 1}, since=NOON) for kind in (L4, SLICE)]
    ledger = Ledger(began=NOON).looked(pods, NOON + HOUR, Habits())
    said = statement(ledger, prices({L4: 0.5}), NOON + HOUR)
    assert (said["today"], said["unpriced"]) == ("0.50", [SLICE.resource])
    unpriced = statement(ledger, prices({SLICE: 0.5}), NOON + HOUR)
    assert (unpriced["today"], unpriced["unpriced"]) == ("0.50", ["L4"])


def test_a_negative_saving_is_none() -> None:
    said = a_statement({L4: 0.8}, habits=Habits(start=80_000.0), busy=lambda now: now == NOON + HOUR)
    assert said["zeroWouldSave"] == "0.00"
    assert said["days"][0]["devices"][0]["asleepSeconds"] < 0
    CostStatus.model_validate(said)


def test_nothing_held_is_no_statement() -> None:
    assert statement(Ledger(began=NOON), prices({L4: 0.8}), NOON) == {}


def test_yesterday_is_told_after_midnight() -> None:
    service = Service()
    service.run(NOON, NOON + 12 * HOUR + 600)
    said = statement(service.ledger, prices({L4: 1.0}), NOON + 12 * HOUR + 600)
    assert (said["today"], said["yesterday"]) == ("0.17", "12.00")
    assert [day["date"] for day in said["days"]] == ["2026-03-11", "2026-03-10"]


def test_another_process_goes_on_from_what_was_said() -> None:
    service = Service()
    before = service.run(NOON, NOON + HOUR)
    resumed = ledger_after(statement(before, prices({}), NOON + HOUR), NOON + HOUR)
    assert held(resumed) == held(before)
    assert resumed.last_look == NOON + HOUR
    assert resumed.totals == {}


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {"countedUntil": 7, "days": "x"},
        {"countedUntil": "9999-99-99", "days": [{}]},
        {"countedUntil": "2026-03-10T12:00:00Z", "days": [{"date": "x", "devices": []}, 3]},
        {
            "countedUntil": "2026-03-10T12:00:00Z",
            "days": [{"date": "2026-03-10", "devices": [1, {"busySeconds": "x"}]}],
        },
        {"countedUntil": "2026-03-10T12:00:00Z", "days": [{"date": "2026-03-10", "devices": [{"busySeconds": 1e300}]}]},
    ],
)
def test_what_is_no_statement_counts_as_none(said: Any) -> None:
    assert held(ledger_after(said, NOON)) == 0


@pytest.mark.parametrize(
    ("value", "as_amount", "as_rate"),
    [
        (0.0, "0.00", "0.00"),
        (0.526, "0.53", "0.526"),
        (31.2, "31.20", "31.20"),
        (12345.678901, "12345.68", "12345.6789"),
    ],
)
def test_amounts_as_text(value: float, as_amount: str, as_rate: str) -> None:
    assert (amount(value), rate(value)) == (as_amount, as_rate)
