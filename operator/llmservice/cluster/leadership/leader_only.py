"""A cluster that only the leader writes to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from llmservice.cluster.guarded import Guarded
from llmservice.errors import NotLeader


class Leadership(Protocol):
    """Knows until when this process may write: `Election`."""

    def seconds_left(self) -> float:
        """Seconds until the deadline; negative or zero without leadership."""
        ...


@dataclass(frozen=True, slots=True)
class LeaderOnly(Guarded):
    """`Cluster` that reads always and writes only before the deadline; a write under way then is cut off (`NotLeader`).

    A write that was cut off may have been applied, as after any broken connection: the next pass looks.
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
