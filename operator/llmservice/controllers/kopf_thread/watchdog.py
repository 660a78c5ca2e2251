"""Notices when kopf lost a watch and does not know it.

kopf 1.45 can drop a cancelled watcher without ending or logging: when its inactivity timeout fires while the consumer
of the stream is suspended, the task of the watcher ends as cancelled, and the orchestrator forgets it
(reactor/orchestration.py, engines/watching.py). What remains is an operator without a watch.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

_TASK_PREFIX = "watcher for "
"""kopf names the tasks of its watchers so (reactor/orchestration.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watchdog:
    """Counts kopf's watchers in the running loop. `report` is told at each check whether all `expected` ones run."""

    expected: int
    report: Callable[[bool], None]
    look_seconds: float = 5.0
    looks_to_start: int = 12

    async def until_lost(self) -> None:
        """Return when a watcher is gone after all were there, or when they do not come."""
        complete, looks = False, 0
        while True:
            await asyncio.sleep(self.look_seconds)
            looks += 1
            missing = _watchers() < self.expected
            self.report(not missing)
            if missing and (complete or looks >= self.looks_to_start):
                return
            complete = complete or not missing


def _watchers() -> int:
    return sum(task.get_name().startswith(_TASK_PREFIX) and not task.done() for task in asyncio.all_tasks())
