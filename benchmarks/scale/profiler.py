"""Where the operator's CPU goes, and how late its event loop is, seen from inside at little cost.

A sample is taken every few milliseconds of CPU, not of time, so a waiting operator is not sampled. Python runs signal
handlers in the main thread only; whose CPU it was is told by the threads' own clocks.
"""

import asyncio
import signal
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from types import FrameType

_SAMPLE_SECONDS = 0.005
_LAG_SECONDS = 0.1

PARTS = (
    ("kopf watching LLMServices", ("/kopf/", "/controllers/kopf_thread/")),
    ("requests to the API server", ("/cluster/transport/connection.py", "/cluster/transport/credentials.py")),
    ("parsing, planning, rendering", ("/llmservice/api/", "/llmservice/planning/", "/llmservice/rendering/")),
    ("comparing, status, conditions", ("/llmservice/converging/",)),
    ("watch events of children and pods", ("/cluster/watching/informer.py", "/cluster/transport/json_lines.py")),
    (
        "logs and metrics",
        ("/logging/", "/prometheus_client/", "/controllers/logs.py", "/controllers/metrics/measuring.py"),
    ),
    ("the rest of a pass", ("/llmservice/reconcilers/", "/llmservice/cluster/")),
    ("event loop, TLS, HTTP parsing", ("/asyncio/", "/aiohttp/", "/ssl.py", "/selectors.py")),
)
"""A sample counts for the first part that has a file anywhere in its stack."""

OTHER = "everything else"


@dataclass(slots=True)
class Sampler:
    """Counts samples by part from `start` to `stop`."""

    samples: Counter[str] = field(default_factory=Counter)
    _used: dict[int, float] = field(default_factory=dict)

    def start(self) -> None:
        """Begin; called in the main thread."""
        self._busiest()
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, _SAMPLE_SECONDS, _SAMPLE_SECONDS)

    def stop(self) -> dict[str, float]:
        """End; the share of each part."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        total = max(1, self.samples.total())
        return {part: count / total for part, count in self.samples.most_common()}

    def _sample(self, _: int, interrupted: FrameType | None) -> None:
        busiest = self._busiest()
        if busiest == threading.main_thread().ident:
            self.samples[part_of(interrupted)] += 1
        else:
            self.samples[part_of(sys._current_frames().get(busiest))] += 1  # noqa: SLF001  (the only way to see it)

    def _busiest(self) -> int:
        """The thread that used most CPU since the last sample."""
        now = {
            thread.ident: time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
            for thread in threading.enumerate()
            if thread.ident
        }
        before, self._used = self._used, now
        return max(now, key=lambda ident: now[ident] - before.get(ident, 0.0))


def part_of(frame: FrameType | None) -> str:
    """The part a stack belongs to."""
    files = []
    while frame is not None:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    return next((part for part, marks in PARTS if any(mark in file for file in files for mark in marks)), OTHER)


async def lag_until(done: asyncio.Event) -> float:
    """The worst lateness of the running loop, in seconds, until `done` is set."""
    worst = 0.0
    while not done.is_set():
        wanted = time.monotonic() + _LAG_SECONDS
        await asyncio.sleep(_LAG_SECONDS)
        worst = max(worst, time.monotonic() - wanted)
    return worst
