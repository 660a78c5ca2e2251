"""`llmservice cost`: what statuses say of devices and money, counted on to now, the greatest waste first."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from click.testing import CliRunner, Result

from llmservice.cli.cost import command
from llmservice.cli.cost_rows import cost_of
from tests.builders import an_llmservice
from tests.unit.cli.small_cluster import SmallCluster

Json = dict[str, Any]
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def devices(hours: float, *, idle: float = 0.0, price: str | None = "0.80", kind: str = "L4") -> Json:
    """Held for so many hours, of which some were idle and the last half of these would have been slept."""
    seconds = {"busy": hours - idle, "idle": idle, "starting": 0, "unknown": 0, "asleep": idle / 2}
    counted = {f"{name}Seconds": round(3600 * each) for name, each in seconds.items()}
    return {"accelerator": kind, "resource": "nvidia.com/gpu", **counted, **({"perHour": price} if price else {})}


def service(name: str, *today: Json, yesterday: tuple[Json, ...] = (), at: datetime | None = None, **said: Any) -> Json:
    at = at or datetime.now(UTC)
    days = [{"date": at.date().isoformat(), "devices": list(today)}]
    days.append({"date": (at.date() - timedelta(days=1)).isoformat(), "devices": list(yesterday)})
    cost = {"devices": 1, "currency": "EUR", "perHour": "0.80", "countedUntil": at.isoformat(), "days": days, **said}
    known = {name: value for name, value in cost.items() if value is not None}
    return {**an_llmservice(metadata__name=name, metadata__namespace="ml"), "status": {"cost": known}}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_the_greatest_waste_comes_first_and_the_sum_last(small: SmallCluster) -> None:
    small.objects = [service("busy", devices(2)), service("idle", devices(2, idle=1)), an_llmservice()]
    lines = [line.split() for line in run().stdout.splitlines()]
    assert [line[1] for line in lines] == ["NAME", "idle", "busy", "total"]
    assert lines[1][3:5] == ["0.80", "EUR"]
    assert lines[3][3:] == ["1.60", "EUR", "3.20", "EUR", "0.80", "EUR", "25", "%", "0.40", "EUR"]


def test_without_prices_there_are_device_hours_and_how_to_set_them(small: SmallCluster) -> None:
    small.objects = [service("chat", devices(2, idle=1, price=None), currency=None, perHour=None)]
    out = run().stdout
    assert "DEVICE-HOURS" in out
    assert "2.00 h" in out
    assert "docs/how-to/cost.md" in out
    assert "EUR" not in out


def test_the_first_minutes_are_seen_and_the_sum_has_the_share_of_its_only_row(small: SmallCluster) -> None:
    since = datetime.now(UTC) - timedelta(minutes=5)
    small.objects = [service("chat", devices(0.03, idle=0.018, price=None), at=since, currency=None, perHour=None)]
    chat, total = (line.split() for line in run().stdout.splitlines()[1:3])
    assert chat[3] != "0.00"
    assert chat[3:] == total[3:]
    assert (chat[5], total[5]) == ("60", "60")


def test_yesterday_is_the_day_before_whole(small: SmallCluster) -> None:
    small.objects = [service("chat", devices(2), yesterday=(devices(24, idle=12),))]
    (row,) = json.loads(run("--yesterday", "-o", "json").stdout)
    assert (row["spent"], row["idle"], row["zeroWouldSave"], row["deviceHours"]["held"]) == (19.2, 9.6, 4.8, 24.0)


def test_what_has_no_price_is_named(small: SmallCluster) -> None:
    small.objects = [service("chat", devices(2), devices(3, price=None, kind="A100-40GB"))]
    out = run("-o", "wide").stdout
    assert "A100-40GB" in out.splitlines()[-1]
    assert "1.60 EUR" in out


def test_one_of_a_name_and_of_all_namespaces(small: SmallCluster) -> None:
    small.objects = [service("chat", devices(2)), service("other", devices(2))]
    assert [row["name"] for row in json.loads(run("other", "-o", "json").stdout)] == ["other"]
    assert len(json.loads(run("-A", "-o", "json").stdout)) == 2


def test_exit_codes(small: SmallCluster) -> None:
    assert run("chat", "-A").exit_code == 2
    assert run("missing").exit_code == 1
    small.forbidden = {"llmservices"}
    assert run().exit_code == 1


def test_nothing_held_is_said(small: SmallCluster) -> None:
    assert run().exit_code == 0
    small.objects = [an_llmservice(metadata__namespace="ml")]
    assert "1" in run().stdout


def test_today_is_counted_on_to_now() -> None:
    said = service("chat", devices(2), at=NOW)
    row = cost_of(said, "today", NOW + timedelta(minutes=9))
    assert (row["spent"], row["deviceHours"]["held"]) == (pytest.approx(1.6 + 0.8 * 0.15), 2.15)
    assert row["deviceHours"]["busy"] == 2


def test_what_is_old_is_not_counted_on() -> None:
    assert cost_of(service("chat", devices(2), at=NOW), "today", NOW + timedelta(hours=2))["spent"] == 1.6


def test_after_midnight_what_was_today_is_yesterday() -> None:
    evening = NOW + timedelta(hours=11, minutes=55)
    said, after = service("chat", devices(2), at=evening), evening + timedelta(minutes=10)
    assert cost_of(said, "yesterday", after)["spent"] == 1.6
    today = cost_of(said, "today", after)
    assert (today["day"], today["spent"]) == ("2026-03-11", pytest.approx(0.8 * 5 / 60, abs=1e-3))


@pytest.mark.parametrize(
    "said",
    [
        None,
        "x",
        {"timeZone": "../etc", "days": [7]},
        {"devices": True, "perHour": "nan", "days": [{"devices": 3}]},
        {
            "devices": 10**30,
            "countedUntil": 3,
            "perHour": "1e999",
            "days": [{"date": "2026-03-10", "devices": [{}, 1]}],
        },
    ],
)
def test_what_cannot_be_read_says_nothing(said: Any) -> None:
    row = cost_of({**an_llmservice(), "status": {"cost": said}}, "today", NOW)
    assert (row["spent"], row["deviceHours"]["held"]) == (None, 0.0)
