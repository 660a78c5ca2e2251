import asyncio
import itertools

from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import ServiceKey, work


async def test_passes_that_wait_for_nobody_leave_turns_to_others() -> None:
    """Else a start beside thousands of resources would keep the loop from renewing the Lease."""
    queue, done = WorkQueue[ServiceKey](), list[ServiceKey]()
    for number in range(1000):
        queue.add(("ml", str(number)))

    async def reconcile(key: ServiceKey) -> None:
        done.append(key)

    task = asyncio.create_task(work(queue, reconcile))
    seen = []
    while len(done) < 1000:
        await asyncio.sleep(0)
        seen.append(len(done))
    task.cancel()
    assert max(after - before for before, after in itertools.pairwise(seen)) == 1
