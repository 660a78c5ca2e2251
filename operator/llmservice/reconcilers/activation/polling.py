"""One long poll to each activator, as long as this process leads and a service may sleep."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

import aiohttp

from llmservice.errors import Unavailable
from llmservice.pauses import backoff
from llmservice.reconcilers.activation.activators import Activators, Control
from llmservice.reconcilers.activation.held_requests import HeldRequests
from llmservice.signals.held_page import HeldPage, read_held

log = logging.getLogger(__name__)

_LOOK_SECONDS = 5.0
_LEAST_PAUSE_SECONDS = 0.02
"""Between two questions: an activator that answers at once, again and again, takes no more of us."""

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.2, 5.0
_FAILURES_UNTIL_DROPPED = 2
_MOST_ACTIVATORS = 64


@dataclass(slots=True, kw_only=True)
class Polling:
    """Asks every activator what it holds. `wanted` says whether there is a service to ask for."""

    activators: Activators
    held: HeldRequests
    wanted: Callable[[], bool]
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.activators.listen(self._news.set)

    def look(self) -> None:
        """Look at once whether there is somebody to ask."""
        self._news.set()

    async def run(self) -> NoReturn:
        """Until cancelled. A hanging activator delays no other, and no failure ends the loop."""
        polls: dict[Control, asyncio.Task[NoReturn]] = {}
        # trust_env off: a proxy of the environment is for the world outside the cluster.
        async with aiohttp.ClientSession(trust_env=False) as session, asyncio.TaskGroup() as group:
            try:
                while True:
                    self._news.clear()
                    asked = frozenset(sorted(self.activators.controls())[:_MOST_ACTIVATORS] if self.wanted() else ())
                    for gone in polls.keys() - asked:
                        polls.pop(gone).cancel()
                        self._drop(gone)
                    for control in asked - polls.keys():
                        polls[control] = group.create_task(self._poll(session, control))
                    await self._rest()
            finally:
                for control in polls:
                    self._drop(control)

    async def _rest(self) -> None:
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                await self._news.wait()
        except TimeoutError:
            return

    async def _poll(self, session: aiohttp.ClientSession, control: Control) -> NoReturn:
        version, failures = "", 0
        while True:
            try:
                page = await read_held(session, control.host, control.port, version)
            except Unavailable as error:
                failures, version = failures + 1, ""
                self._failed(control, failures, error)
                await asyncio.sleep(backoff(failures - 1, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS))
            else:
                version, failures = page.version, 0
                self._take(control, page)
                await asyncio.sleep(_LEAST_PAUSE_SECONDS)

    def _take(self, control: Control, page: HeldPage) -> None:
        try:
            self.activators.answers(control, well=True)
            self.held.put(control, page)
        except Exception:
            log.exception("defect while the page of an activator is taken")

    def _failed(self, control: Control, failures: int, error: Unavailable) -> None:
        if failures == _FAILURES_UNTIL_DROPPED:
            log.warning("activator %s:%d does not say what it holds: %s", control.host, control.port, error)
            self._drop(control)

    def _drop(self, control: Control) -> None:
        self.activators.answers(control, well=False)
        self.held.drop(control)
