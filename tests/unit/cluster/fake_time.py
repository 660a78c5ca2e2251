"""An event loop whose time passes only while everybody waits, and then at once: minutes take microseconds."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Answer = TypeVar("Answer")


class _Skipping(selectors.DefaultSelector):
    """Does not wait for a timer: it moves the clock there."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everybody waits for something that never comes")
        if not ready and timeout:
            self.now += timeout
        return ready


class FakeTimeLoop(asyncio.SelectorEventLoop):
    """`time()` starts at 0."""

    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.now

    def freeze(self, seconds: float) -> None:
        """Let time pass while nobody can do anything, as SIGSTOP does."""
        self._skipping.now += seconds


def simulate(scene: Callable[[FakeTimeLoop], Coroutine[Any, Any, Answer]]) -> Answer:
    """Play a scene in fake time."""
    with asyncio.Runner(loop_factory=FakeTimeLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, FakeTimeLoop)
        return runner.run(scene(loop))
