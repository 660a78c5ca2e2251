"""Supervision with a stand-in for `kopf.operator`: it does at once what kopf does on a bad day."""

import asyncio
import threading
from typing import Any

import kopf
import pytest

from llmservice.controllers.kopf_thread.watch import pause_after
from llmservice.controllers.kopf_thread.watchdog import Watchdog
from tests.unit.cluster.fake_time import FakeTimeLoop, simulate
from tests.unit.controllers.watching import Told, watching
from tests.unit.until import until


class Operator:
    """Ends as told, once for each start; the last way again and again."""

    def __init__(self, *ways: str) -> None:
        self.ways = list(ways)
        self.starts = 0
        self.stopped = 0
        self.settings: list[dict[str, Any]] = []

    async def __call__(self, **settings: Any) -> None:
        self.starts += 1
        self.settings.append(settings)
        way = self.ways.pop(0) if len(self.ways) > 1 else self.ways[0]
        if way == "raises":
            raise RuntimeError("Error in the watch-stream")
        if way == "returns":
            return
        watcher = asyncio.create_task(asyncio.sleep(0.2 if way == "loses its watch" else 3600), name="watcher for x")
        if way == "never watches":
            watcher.cancel()
        await settings["stop_flag"].wait()
        self.stopped += 1
        watcher.cancel()


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Operator:
    stand_in = Operator(*request.param)
    monkeypatch.setattr(kopf, "operator", stand_in)
    return stand_in


@pytest.mark.parametrize(
    "operator",
    [("raises", "raises", "works"), ("returns", "works"), ("loses its watch", "works"), ("never watches", "works")],
    ids=lambda ways: ways[0],
    indirect=True,
)
async def test_kopf_is_started_again_whatever_ended_it(operator: Operator) -> None:
    starts = len(operator.ways)
    async with watching(Told()) as watch:
        await until(lambda: watch.watching and operator.starts == starts)
        assert watch.restarts == starts - 1


@pytest.mark.parametrize("operator", [("works",)], ids=["works"], indirect=True)
async def test_stopping_ends_kopf_and_its_thread(operator: Operator) -> None:
    async with watching(Told()) as watch:
        await until(lambda: watch.watching)
        assert "kopf" in {thread.name for thread in threading.enumerate()}
    assert operator.stopped == 1
    assert not watch.watching


@pytest.mark.parametrize("operator", [("works",)], ids=["works"], indirect=True)
async def test_kopf_starts_only_when_the_api_server_knows_the_kind(operator: Operator) -> None:
    known: list[bool] = []

    async def served() -> bool:
        return bool(known)

    async with watching(Told(), served=served) as watch:
        await asyncio.sleep(0.1)
        assert (operator.starts, watch.watching, watch.is_alive()) == (0, False, True)
        known.append(True)
        await until(lambda: watch.watching)


@pytest.mark.parametrize("operator", [("works",)], ids=["works"], indirect=True)
async def test_one_missing_watch_of_several_namespaces_is_noticed(operator: Operator) -> None:
    async with watching(Told(), namespaces=("a", "b")) as watch:
        await until(lambda: operator.starts == 2)
        assert not watch.watching
    assert operator.settings[0]["namespaces"] == ("a", "b")
    assert not operator.settings[0]["clusterwide"]


@pytest.mark.parametrize("operator", [("works",)], ids=["works"], indirect=True)
async def test_kopf_asks_for_nothing_that_writes_or_gives_up(operator: Operator) -> None:
    async with watching(Told()) as watch:
        await until(lambda: watch.watching)
    settings = operator.settings[0]["settings"]
    assert not settings.posting.enabled
    assert settings.scanning.disabled
    assert settings.peering.standalone
    pauses = iter(settings.networking.error_backoffs)
    assert max(next(pauses) for _ in range(1000)) <= 37.5


def test_a_watch_that_takes_its_time_to_start_is_no_lost_watch() -> None:
    async def scene(loop: FakeTimeLoop) -> float:
        looks: list[bool] = []
        watchdog = Watchdog(expected=1, report=looks.append)

        async def kopf_starts_late() -> None:
            await asyncio.sleep(42)
            watcher = asyncio.create_task(asyncio.sleep(100), name="watcher for x")
            await watcher

        late = asyncio.create_task(kopf_starts_late())
        await watchdog.until_lost()
        late.cancel()
        assert looks[:10] == [False] * 8 + [True, True]
        return loop.time()

    assert simulate(scene) == pytest.approx(145.0)


def test_the_next_start_is_never_far_however_many_failed() -> None:
    assert max(pause_after(failures, 0.5) for failures in range(1, 1000)) <= 6.0
    assert pause_after(1, 0.5) <= 1.0
