"""How fast bytes may come: all requests of a download together."""

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class Bandwidth:
    """Bytes in a second; 0 is no bound."""

    per_second: int = 0
    _free_at: float = field(default=0.0, init=False)

    async def take(self, size: int) -> None:
        """Wait until so many more bytes may have come. A piece is late by its own time, so the mean is kept."""
        if not self.per_second:
            return
        now = asyncio.get_running_loop().time()
        self._free_at = max(self._free_at, now) + size / self.per_second
        await asyncio.sleep(self._free_at - now)
