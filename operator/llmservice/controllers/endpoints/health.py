"""Is the process alive, and is it ready? Checks as a table; each says what is wrong in one sentence."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from llmservice.cluster.watching.informer import Informer
from llmservice.controllers.served_namespaces import ServedNamespaces

Checks = Mapping[str, Callable[[], str]]
"""By name; each returns what is wrong, or an empty text. Called from another thread."""

_SILENCE_SECONDS = 180.0
"""Bookmarks come about every minute: three missing ones are no chance (operations: watcher silent)."""

_LAG_SECONDS = 10.0


class Watch(Protocol):
    """kopf under supervision."""

    watching: bool

    def is_alive(self) -> bool:
        """Whether its thread runs."""
        ...


@dataclass(slots=True, kw_only=True)
class LoopPulse:
    """The beat of an event loop: how late it is, in seconds."""

    interval_seconds: float = 1.0
    clock: Callable[[], float] = time.monotonic
    _beat_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._beat_at = self.clock()

    async def run(self) -> NoReturn:
        """Beat until cancelled."""
        while True:
            self._beat_at = self.clock()
            await asyncio.sleep(self.interval_seconds)

    def lag_seconds(self) -> float:
        """How much later than it should the loop is now; grows while the loop hangs."""
        return max(0.0, self.clock() - self._beat_at - self.interval_seconds)

    def problem(self) -> str:
        """What is wrong; empty when the loop runs."""
        lag = self.lag_seconds()
        return f"the event loop hangs for {lag:.0f} s" if lag > _LAG_SECONDS else ""


@dataclass(slots=True, kw_only=True)
class InformerPulse:
    """Whether an informer is active: it receives data, or it tries to.

    While the API server is away there is nothing to receive, but each failed try counts as activity: a restart of this
    process would not bring the API server back.
    """

    informer: Informer
    clock: Callable[[], float] = time.monotonic
    _tries: int = 0
    _tried_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._tried_at = self.clock()

    def problem(self) -> str:
        """What is wrong; empty when it lives. Tries are noticed from one call to the next."""
        tries, now = sum(self.informer.restarts.values()), self.clock()
        if tries != self._tries:
            self._tries, self._tried_at = tries, now
        silence = now - max(self.informer.last_heard, self._tried_at)
        return f"no event, bookmark or try for {silence:.0f} s" if silence > _SILENCE_SECONDS else ""


def alive_checks(informers: Iterable[Informer], kopf: Watch, loop: LoopPulse) -> Checks:
    """What only a restart of the process can heal."""
    pulses = {informer.selection.name: InformerPulse(informer=informer).problem for informer in informers}
    return {"loop": loop.problem, "kopf": lambda: "" if kopf.is_alive() else "the thread of kopf has ended", **pulses}


def ready_checks(informers: Iterable[Informer], kopf: Watch, namespaces: ServedNamespaces) -> Checks:
    """What must have happened before this replica can take over; one namespace that is refused holds up no other."""

    def cold(informer: Informer) -> Callable[[], str]:
        def problem() -> str:
            if informer.synced.is_set() or (informer.refusal and namespaces.any_listed()):
                return ""
            return f"not listed yet: {informer.refusal}" if informer.refusal else "not listed yet"

        return problem

    def unwatched() -> str:
        return "" if kopf.watching else "LLMServices are not watched yet: is the CRD installed?"

    return {"llmservices": unwatched, **{informer.selection.name: cold(informer) for informer in informers}}


def refusals(informers: Iterable[Informer]) -> Checks:
    """What the API server refuses at present without keeping this replica from taking over."""

    def refusal(informer: Informer) -> Callable[[], str]:
        return lambda: f"refused: {informer.refusal}" if informer.refusal else ""

    return {informer.selection.name: refusal(informer) for informer in informers}
