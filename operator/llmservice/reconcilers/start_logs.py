"""What engines say at their start, from the beginning of their logs.

The beginning of a log is read once for each start of an engine, after its startup probe has succeeded: by then it holds
everything. What was read is remembered within a budget, and in `status.start`: a restarted operator reads only what no
status knows. Without devices only the log of the start that is followed (`status.startup`) is read. Few reads run at
once, namespaces take turns, and each has 20 reads and then five a second, at times that are given out in advance. What
could not be read is read again much later; nothing waits for it.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llmservice.cluster.cluster import Cluster
from llmservice.converging.accelerator_in_use import started_pods
from llmservice.converging.start_status import kept_reports, start_of
from llmservice.engines.registry import ENGINES
from llmservice.engines.start_report import StartReport
from llmservice.engines.start_times import UNTIMED, StartTimes
from llmservice.engines.timed_log import timed_log
from llmservice.errors import OperatorError
from llmservice.fairness.slots import FairSlots
from llmservice.fairness.token_buckets import TokenBuckets
from llmservice.objects.names import CONTAINER_NAME
from llmservice.objects.references import Manifest, ref_of
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.remembered_reports import Remembered, RememberedReports

log = logging.getLogger(__name__)

HEAD_BYTES = 65_536
"""Of a log. Where the last line that counts ends: 10 kB in llama.cpp's of a small model at verbosity 4, 12 to 30 kB in
vLLM's, of which the configuration takes up to 8 kB, and 20 kB in TGI's; the time before each line adds half as much at
most."""

_ANSWERED_SECONDS = 5.0
_UNREAD_SECONDS = 300.0
_LONGEST_UNREAD_SECONDS = 3600.0
"""Between attempts at a log that could not be read the pauses double: the operator may lack the right to read logs."""
_READ_AT_ONCE = 4
_READING_AT_MOST = 16
"""In one namespace, those included that wait for their turn."""
_PATIENCE_SECONDS = 0.25
"""A pass waits so long for the logs it asked for: a node that does not answer must not hold it up."""
_WAITED_FOR = 16
"""Beyond so many reads under way no pass waits for its own: it would hold a worker that others need."""
_NEXT_SECONDS = 1.0
_READ_A_SECOND = 40
"""About so many, where a node answers within 0.1 s: who waits behind a thousand others looks again when it is time."""
_BURST = 20
_PAUSE_SECONDS = 0.2
_MOST_NAMESPACES = 4096


@dataclass(frozen=True, slots=True)
class StartReports:
    """Reports by pod name, and the seconds until others should be read; None when none is missing.

    `unread`: there is no report, and the first attempt to read one is still to end. `times` has what is known of the
    parts of a start, of each pod whose log was read, or could not be.
    """

    reports: dict[str, StartReport]
    requeue_seconds: float | None = None
    unread: bool = False
    times: Mapping[str, StartTimes] = field(default_factory=dict)


@dataclass(slots=True)
class StartLogs:
    """Reads the beginning of logs, and remembers what it says."""

    cluster: Cluster
    _remembered: RememberedReports = field(default_factory=RememberedReports)
    _reading: dict[str, dict[str, asyncio.Task[None]]] = field(default_factory=dict)
    _slots: FairSlots[str] = field(default_factory=lambda: FairSlots(_READ_AT_ONCE))
    _rate: TokenBuckets[str] = field(
        default_factory=lambda: TokenBuckets(burst=_BURST, seconds=_PAUSE_SECONDS, most_keys=_MOST_NAMESPACES)
    )

    async def read(
        self, plan: ServicePlan, pods: Iterable[Manifest], status: Mapping[str, Any], followed: Manifest | None = None
    ) -> StartReports:
        """What the engines of a service said; `status` is its status as it stands. Raises nothing.

        `followed` is the pod whose start is told in the status.
        """
        started = started_pods(pods) if plan.devices else []
        started += [pod for pod in started_pods([followed] if followed else []) if pod not in started]
        reports: dict[str, StartReport] = {}
        pauses: list[float] = []
        due: list[Manifest] = []
        kept: Mapping[str, StartReport] | None = None
        for pod in started:
            known, name = self._remembered.get(plan.owner.namespace, start_of(pod)), pod["metadata"]["name"]
            if known is None:
                kept = kept_reports(status, started) if kept is None else kept
                known = self._first_seen(pod, kept.get(name))
            if known.report is not None:
                reports[name] = known.report
            elif (pause := known.due - _now()) > 0:
                pauses.append(pause)
            else:
                due.append(pod)
        if due:
            pauses += await self._read_due(plan, due, reports)
        tried = {pod["metadata"]["name"]: self._remembered.get(plan.owner.namespace, start_of(pod)) for pod in started}
        unread = not reports and any(known is not None and not known.pause for known in tried.values())
        times = {name: known.times for name, known in tried.items() if known is not None and known.is_over}
        return StartReports(reports, min(pauses, default=None), unread, times)

    def _first_seen(self, pod: Manifest, report: StartReport | None) -> Remembered:
        """Remember what the status knows of this start, or when its log is to be read: each has a turn of its own."""
        namespace, now = pod["metadata"]["namespace"], _now()
        turn = now
        if report is None:
            turn += self._rate.wait_seconds(namespace, now)
            self._rate.spend(namespace, now)
        known = Remembered(turn, report)
        self._remembered.put(namespace, start_of(pod), known)
        return known

    async def _read_due(self, plan: ServicePlan, due: list[Manifest], reports: dict[str, StartReport]) -> list[float]:
        """Read logs that are due, and wait a moment for them; returns when to go on."""
        namespace = due[0]["metadata"]["namespace"]
        reading = self._reading.setdefault(namespace, {})
        for pod in due:
            if len(reading) < _READING_AT_MOST and start_of(pod) not in reading:
                reading[start_of(pod)] = asyncio.create_task(self._read(plan, pod))
        tasks, under_way = [reading[start] for start in map(start_of, due) if start in reading], self._under_way()
        if tasks and under_way <= _WAITED_FOR:
            await asyncio.wait(tasks, timeout=_PATIENCE_SECONDS)
        pauses, soonest = [], max(_NEXT_SECONDS, under_way / _READ_A_SECOND)
        for pod in due:
            known = self._remembered.get(namespace, start_of(pod))
            if known is not None and known.report is not None:
                reports[pod["metadata"]["name"]] = known.report
            else:
                pauses.append(soonest if known is None else max(soonest, known.due - _now()))
        return pauses

    def _under_way(self) -> int:
        return sum(map(len, self._reading.values()))

    async def _read(self, plan: ServicePlan, pod: Manifest) -> None:
        """Read the beginning of one log, in this namespace's turn, and remember what it says."""
        engine, namespace, start = ENGINES[plan.engine], pod["metadata"]["namespace"], start_of(pod)
        report: StartReport | None = None
        times = UNTIMED
        try:
            async with self._slots.slot(namespace):
                log_head = timed_log(await self._head(pod))
            if log_head.text:
                report = engine.start_report(log_head.text).of_copies(plan.parallelism.data)
                times = engine.start_times(log_head)
        except Exception:
            # A bug in reading one log must neither be tried again at once, nor go unseen with its task.
            log.exception("%s: defect in the operator", ref_of(pod))
        finally:
            before = self._remembered.get(namespace, start)
            pause = min(_LONGEST_UNREAD_SECONDS, 2 * before.pause) if before and before.pause else _UNREAD_SECONDS
            self._remembered.put(namespace, start, Remembered(_now() + pause, report, pause, times))
            reading = self._reading.get(namespace, {})
            reading.pop(start, None)
            if not reading:
                self._reading.pop(namespace, None)

    async def _head(self, pod: Manifest) -> str:
        """The beginning of the log; empty after a timeout or an error."""
        try:
            async with asyncio.timeout(_ANSWERED_SECONDS):
                return await self.cluster.log_head(ref_of(pod), CONTAINER_NAME, max_bytes=HEAD_BYTES)
        except (OperatorError, TimeoutError) as problem:
            why = str(problem) or "no answer"
            log.info("%s: reading the start of its log failed, retrying much later: %s", ref_of(pod), why)
            return ""


def _now() -> float:
    return asyncio.get_running_loop().time()
