"""The work queue: once in the queue, one worker at a time, never lost."""

import asyncio

import pytest

from llmservice.errors import InvalidSpec, Unavailable
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import ServiceKey, work

CHAT, CODE = ("ml", "chat"), ("ml", "code")


async def test_a_key_added_many_times_is_taken_once() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    for _ in range(5):
        queue.add(CHAT)
    assert (await queue.take(), len(queue)) == (CHAT, 0)


async def test_keys_come_in_the_order_they_were_added() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    queue.add(CODE)
    queue.add(CHAT)
    assert [await queue.take(), await queue.take()] == [CODE, CHAT]


async def test_a_key_added_while_worked_on_comes_again_afterwards() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    queue.add(CHAT)
    key = await queue.take()
    queue.add(CHAT)
    assert len(queue) == 0
    queue.done(key)
    assert await queue.take() == CHAT


async def test_an_earlier_wish_brings_a_delayed_key_forward() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    queue.add_after(CHAT, 3600)
    queue.add_after(CHAT, 0)
    assert await asyncio.wait_for(queue.take(), 5) == CHAT


async def test_a_later_wish_does_not_put_a_delayed_key_off() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    queue.add_after(CHAT, 0)
    queue.add_after(CHAT, 3600)
    assert await asyncio.wait_for(queue.take(), 5) == CHAT


async def test_a_key_that_waits_already_needs_no_later_look() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    queue.add(CHAT)
    queue.add_after(CHAT, 0)
    assert await queue.take() == CHAT
    queue.done(CHAT)
    await asyncio.sleep(0.01)
    assert len(queue) == 0


async def test_retries_wait_longer_after_each_failure_and_start_over_after_success() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue(jitter=lambda: 0.5)
    pauses = [queue.retry(CHAT) for _ in range(12)]
    assert pauses[:4] == [0.2, 0.4, 0.8, 1.6]
    assert pauses[-1] == 60.0
    queue.succeeded(CHAT)
    assert queue.retry(CHAT) == 0.2
    queue.forget(CHAT)


async def test_a_forgotten_key_does_not_come_back() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    queue.add_after(CHAT, 0)
    queue.forget(CHAT)
    queue.add(CODE)
    assert await queue.take() == CODE
    assert len(queue) == 0


@pytest.mark.parametrize("error", [Unavailable("Timeout", "no answer"), InvalidSpec("X", "y"), RuntimeError("defect")])
async def test_a_failing_key_neither_stops_the_worker_nor_is_lost(error: Exception) -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    worked: list[ServiceKey] = []
    last = asyncio.Event()

    async def reconcile(key: ServiceKey) -> float | None:
        worked.append(key)
        if key == CODE:
            raise error
        last.set()
        return None

    worker = asyncio.create_task(work(queue, reconcile))
    queue.add(CODE)
    queue.add(CHAT)
    await last.wait()
    worker.cancel()
    assert worked == [CODE, CHAT]
    assert CODE in queue._timers
    queue.forget(CODE)
