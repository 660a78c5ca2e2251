"""What engines say at their start, from the beginning of their logs.

The beginning of a log is read once for each start of an engine, after its startup probe has succeeded: by then it holds
everything. What was read is remembered within a budget, and in `status.start`: a restarted operator reads only what no
status knows. Without devices nothing is read. Few reads run at once, namespaces take turns, and each starts with a
few reads and then has one a second. What could not be read is read again much later; nothing waits for it.
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
vLLM's, of which the configuration takes up to 8 kB, and 20 kB in TGI's."""

_ANSWERED_SECONDS = 5.0
_UNREAD_SECONDS = 300.0
_READ_AT_ONCE = 4
_PODS_AT_ONCE = 4
_BURST = 8
_PAUSE_SECONDS = 1.0
_MOST_NAMESPACES = 4096


@dataclass(frozen=True, slots=True)
class StartReports:
    """Reports by pod name, and the seconds until others should be read; None when none is missing."""

    reports: dict[str, StartReport]
    requeue_seconds: float | None = None


@dataclass(slots=True)
class StartLogs:
    """Reads the beginning of logs, and remembers what it says."""

    cluster: Cluster
    _remembered: RememberedReports = field(default_factory=RememberedReports)
    _slots: FairSlots[str] = field(default_factory=lambda: FairSlots(_READ_AT_ONCE))
    _rate: TokenBuckets[str] = field(
        default_factory=lambda: TokenBuckets(burst=_BURST, seconds=_PAUSE_SECONDS, most_keys=_MOST_NAMESPACES)
    )

    async def read(self, plan: ServicePlan, pods: Iterable[Manifest], status: Mapping[str, Any]) -> StartReports:
        """What the engines of a service said; `status` is its status as it stands. Raises nothing."""
        started = started_pods(pods) if plan.devices else []
        if not started:
            return StartReports({})
        namespace, now = plan.owner.namespace, asyncio.get_running_loop().time()
        reports: dict[str, StartReport] = {}
        missing: list[Manifest] = []
        pauses: list[float] = []
        for pod in started:
            known = self._remembered.get(namespace, start_of(pod))
            if known is None:
                missing.append(pod)
            elif known.report is not None:
                reports[pod["metadata"]["name"]] = known.report
            elif (left := known.read_at + _UNREAD_SECONDS - now) > 0:
                pauses.append(left)
            else:
                missing.append(pod)
        kept = kept_reports(status, missing) if missing else {}
        for pod in missing:
            if report := kept.get(pod["metadata"]["name"]):
                self._remembered.put(namespace, start_of(pod), Remembered(now, report))
        reports |= kept
        missing = [pod for pod in missing if pod["metadata"]["name"] not in kept]
        pauses += await self._read_some(plan, missing, reports)
        return StartReports(reports, min(pauses, default=None))

    async def _read_some(
        self, plan: ServicePlan, missing: list[Manifest], reports: dict[str, StartReport]
    ) -> list[float]:
        """Read the first of the missing reports, as many as this namespace may; returns when others may be read."""
        namespace, loop = plan.owner.namespace, asyncio.get_running_loop()
        for number, pod in enumerate(missing):
            if number >= _PODS_AT_ONCE or not self._rate.take(namespace, loop.time()):
                return [max(_PAUSE_SECONDS, self._rate.wait_seconds(namespace, loop.time()))]
            text = await self._head(pod)
            report = ENGINES[plan.engine].start_report(text) if text else None
            self._remembered.put(namespace, start_of(pod), Remembered(loop.time(), report))
            if report is None:
                # A node that does not answer costs seconds: the others have their turn in the next pass.
                return [_PAUSE_SECONDS if number + 1 < len(missing) else _UNREAD_SECONDS]
            reports[pod["metadata"]["name"]] = report
        return []

    async def _head(self, pod: Manifest) -> str:
        """The beginning of the log, in this namespace's turn; empty after a timeout or an error."""
        try:
            async with asyncio.timeout(_ANSWERED_SECONDS), self._slots.slot(pod["metadata"]["namespace"]):
                return await self.cluster.log_head(ref_of(pod), CONTAINER_NAME, max_bytes=HEAD_BYTES)
        except (OperatorError, TimeoutError) as problem:
            why = str(problem) or "no answer"
            log.info("%s: reading the start of its log failed, retrying much later: %s", ref_of(pod), why)
            return ""
