"""Detects the cluster's platform by the labels of its nodes: at the start and every ten minutes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import NoReturn

from llmservice.errors import OperatorError, Refused
from llmservice.pauses import jittered
from llmservice.reconcilers.planner import CataloguePlanner

log = logging.getLogger(__name__)

_EVERY_SECONDS = 600.0
_UNAVAILABLE_AGAIN_SECONDS = 30.0


@dataclass(slots=True, kw_only=True)
class PlatformWatch:
    """Keeps a planner's platform current until cancelled. `label_keys` lists the keys of all nodes' labels.

    `setting` is the platform when the labels do not tell, or may not be read. `catalogue_settled` is awaited first: an
    overlay may add platforms. `settled` is set after the first attempt, whatever its result.
    """

    planner: CataloguePlanner
    label_keys: Callable[[], Awaitable[Collection[str]]]
    catalogue_settled: asyncio.Event
    setting: str = ""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    _told_of_refusal: bool = False

    async def run(self) -> NoReturn:
        """Look, and look again. Never returns, never raises but when cancelled."""
        await self.catalogue_settled.wait()
        self.planner.platform = self.setting
        self._check_setting()
        while True:
            pause = await self.look()
            self.settled.set()
            await asyncio.sleep(jittered(pause, 0.2))

    async def look(self) -> float:
        """Look once; returns the seconds until the next look."""
        try:
            keys = await self.label_keys()
        except Refused as refusal:
            self._tell_of_refusal(refusal)
            return _EVERY_SECONDS
        except OperatorError as error:
            log.warning("nodes: %s", error)
            return _UNAVAILABLE_AGAIN_SECONDS
        self._use(self.planner.catalogue.platform_of(keys) or self.setting)
        return _EVERY_SECONDS

    def _check_setting(self) -> None:
        known = self.planner.catalogue.platform_names
        if self.setting and self.setting not in known:
            log.warning(
                "LLMSERVICE_PLATFORM: %s is no platform of the catalogue; use one of %s", self.setting, ", ".join(known)
            )

    def _use(self, platform: str) -> None:
        if platform != self.planner.platform or not self.settled.is_set():
            log.info("platform: %s", platform or "not known from node labels")
        self.planner.platform = platform

    def _tell_of_refusal(self, refusal: Refused) -> None:
        """Logged once: the right is optional, and may be withheld for good."""
        if not self._told_of_refusal:
            self._told_of_refusal = True
            instead = f"LLMSERVICE_PLATFORM={self.setting} is used" if self.setting else "set LLMSERVICE_PLATFORM"
            log.info("platform: nodes may not be listed, %s: %s", instead, refusal)
