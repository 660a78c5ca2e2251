import asyncio
import gc

import pytest

from llmservice.controllers import memory
from tests.unit.cluster.fake_time import FakeTimeLoop, simulate


def test_the_collector_passes_over_what_was_there_when_it_settled() -> None:
    kept = [[number] for number in range(1000)]
    before = gc.get_freeze_count()
    try:
        memory.settle()
        assert gc.get_freeze_count() >= before + len(kept)
    finally:
        gc.unfreeze()


def test_settles_at_the_start_only_and_gives_memory_back_ever_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frozen garbage stays for good: nothing is frozen while the operator does its daily work."""
    told = list[str]()
    monkeypatch.setattr(memory, "settle", lambda: told.append("settled"))
    monkeypatch.setattr(memory, "give_back", lambda: told.append("given back"))

    async def scene(_: FakeTimeLoop) -> None:
        task = asyncio.create_task(memory.settle_often())
        await asyncio.sleep(3600)
        task.cancel()

    simulate(scene)
    assert told == ["settled"] * 4 + ["given back"] * 5
