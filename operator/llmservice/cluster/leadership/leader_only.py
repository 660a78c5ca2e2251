"""A cluster that only the leader writes to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from llmservice.cluster.guarded import Guarded
from llmservice.errors import NotLeader


class Leadership(Protocol):
    """How long this process may still write: `Election`."""

    def seconds_left(self) -> float:
        """Seconds until the deadline; negative or zero without leadership."""
        ...


@dataclass(frozen=True, slots=True)
class LeaderOnly(Guarded):
    """`Cluster` that writes only before the renew deadline; a write in progress then is cut off (`NotLeader`).

    A write that was cut off may have been applied, as after any broken connection: the next pass checks.
    """

    leadership: Leadership

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Cut off at the deadline."""
        left = self.leadership.seconds_left()
        if left <= 0:
            raise NotLeader
        try:
            async with asyncio.timeout(left):
                yield
        except TimeoutError as error:
            raise NotLeader from error
