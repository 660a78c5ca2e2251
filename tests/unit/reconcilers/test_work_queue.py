"""The work queue: once in the queue, one worker at a time, never lost."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    queue: WorkQueue[ServiceKey] = WorkQueue(chance=lambda: 1.0)
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


def the_namespace(key: ServiceKey) -> str:
    return key[0]


async def test_the_first_pass_for_another_tenant_comes_next_however_much_one_tenant_changes() -> None:
    """A thousand resources that are queued again as soon as they were looked at, and sixteen workers."""
    queue: WorkQueue[ServiceKey] = WorkQueue(tenant=the_namespace)
    takes: list[ServiceKey] = []
    added_at = []
    enough = asyncio.Event()

    async def worker() -> None:
        while True:
            key = await queue.take()
            takes.append(key)
            if len(takes) == 3000:
                queue.add(("victim", "chat"))
                added_at.append(len(takes))
            if len(takes) == 3200:
                enough.set()
            await asyncio.sleep(0)
            queue.add(key)
            queue.done(key)

    workers = [asyncio.create_task(worker()) for _ in range(16)]
    for number in range(1000):
        queue.add(("hostile", f"chat-{number}"))
    await enough.wait()
    for task in workers:
        task.cancel()
    assert takes.index(("victim", "chat")) - added_at[0] <= 1


async def test_another_tenants_key_finds_a_worker_while_passes_for_one_tenant_never_end() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue(tenant=the_namespace)
    taken: list[ServiceKey] = []

    async def worker() -> None:
        taken.append(await queue.take())
        await asyncio.sleep(60)

    queue.add(("victim", "before"))
    queue.done(await queue.take())
    workers = [asyncio.create_task(worker()) for _ in range(16)]
    for number in range(100):
        queue.add(("hostile", f"chat-{number}"))
    await asyncio.sleep(0.01)
    assert len(taken) == 12
    queue.add(("victim", "chat"))
    await asyncio.sleep(0.01)
    assert taken[12:] == [("victim", "chat")]
    for task in workers:
        task.cancel()


async def test_the_only_namespace_has_both_workers_and_another_one_gets_the_first_that_is_free() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue(tenant=the_namespace)
    for number in range(4):
        queue.add(("ml", f"chat-{number}"))
    taking = [asyncio.create_task(queue.take()) for _ in range(2)]
    first, _ = await asyncio.gather(*taking)
    queue.add(("other", "chat"))
    worker = asyncio.create_task(queue.take())
    queue.done(first)
    assert await worker == ("other", "chat")


async def test_a_key_that_changes_without_end_is_processed_twice_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("llmservice.reconcilers.work_queue.time.monotonic", lambda: now[0])
    queue: WorkQueue[ServiceKey] = WorkQueue()
    passes = 0
    for hundredth in range(1000):
        now[0] = hundredth / 100
        queue.add(CHAT)
        if len(queue):
            queue.done(await queue.take())
            passes += 1
    queue.forget(CHAT)
    assert passes == 20 + 19


async def test_the_last_change_of_a_rate_limited_key_is_processed_too() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    for _ in range(20):
        queue.add(CHAT)
        queue.done(await queue.take())
    queue.add(CHAT)
    assert len(queue) == 0
    assert await asyncio.wait_for(queue.take(), 5) == CHAT


async def test_a_key_handed_to_a_worker_that_is_cancelled_goes_to_another() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    worker = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    queue.add(CHAT)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    assert await asyncio.wait_for(queue.take(), 5) == CHAT


async def test_a_worker_that_was_cancelled_is_handed_nothing() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    worker = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    worker.cancel()
    queue.add(CHAT)
    assert await asyncio.wait_for(queue.take(), 5) == CHAT


@dataclass(slots=True)
class Workers:
    """Workers that take one key each, and give it back when they are told to."""

    queue: WorkQueue[ServiceKey] = field(default_factory=lambda: WorkQueue(tenant=the_namespace))
    wanted: set[ServiceKey] = field(default_factory=set)
    held: list[ServiceKey] = field(default_factory=list)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def play(self, step: str, number: int) -> None:
        if step == "add":
            key = (f"team-{number % 2}", f"chat-{number}")
            self.wanted.add(key)
            self.queue.add(key)
        elif step == "take":
            self.tasks.append(asyncio.create_task(self.take()))
        elif self.held:
            self.queue.done(self.held.pop(number % len(self.held)))
        await asyncio.sleep(0)

    async def take(self) -> None:
        key = await self.queue.take()
        assert key not in self.held
        self.wanted.discard(key)
        self.held.append(key)

    async def finish(self) -> None:
        while self.wanted:
            await self.play("take", 0)
            while self.held:
                await self.play("done", 0)
        for task in self.tasks:
            task.cancel()
        ended = await asyncio.gather(*self.tasks, return_exceptions=True)
        assert [error for error in ended if isinstance(error, AssertionError)] == []


@given(st.lists(st.tuples(st.sampled_from(["add", "take", "done"]), st.integers(0, 5)), max_size=80))
def test_each_key_is_worked_on_once_at_a_time_and_none_is_lost(steps: list[tuple[str, int]]) -> None:
    async def play() -> None:
        workers = Workers()
        for step in steps:
            await workers.play(*step)
        await workers.finish()

    asyncio.run(asyncio.wait_for(play(), 20))
