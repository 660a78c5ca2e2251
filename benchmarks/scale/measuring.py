"""One size, measured from nothing to the second start."""

import asyncio
import contextlib
import os
import re
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.scale import workload
from benchmarks.scale.process import Figures, OperatorProcess, cpu_seconds
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import load_credentials
from sandbox import Sandbox
from sandbox.components import Journal

_LONGEST_SECONDS = 900.0
_APPLIES = re.compile(r'^apiserver_request_total\{(.*verb="APPLY".*)\} (\S+)$', re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The figures of one size. Times are counted from the answer to the last create; shares are of one core."""

    services: int
    day: str
    load_before: float
    load_after: float
    bare_seconds: float
    create_seconds: float
    children_seconds: float
    ready_seconds: float
    cpu_ms_per_service: float
    cluster_cpu_ms_per_service: dict[str, float]
    passes_per_service: float
    writes_per_service: float
    reads_per_service: float
    applies_per_service: dict[str, float] = field(default_factory=dict)
    memory_mib: float
    most_memory_mib: float
    worst_lag_ms: float
    parts: dict[str, float]
    idle_cpu_percent: float
    idle_api_server_percent: float
    idle_writes: int
    idle_memory_mib: float
    restart_seconds: float
    restart_cpu_seconds: float
    restart_writes: int
    restart_memory_mib: float
    restart_worst_lag_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A cluster with nodes, and how long to look at an idle operator."""

    box: Sandbox
    idle_seconds: float

    @property
    def folder(self) -> Path:
        """Where the operator's log and report go; it outlives the sandbox."""
        folder = self.box.spec.cache / "scale"
        folder.mkdir(exist_ok=True)
        return folder

    async def bare(self, services: int) -> float:
        """Seconds in which a client that does nothing else makes the same children; the same controllers run beside."""
        async with self._connection() as connection:
            return await workload.create_children(connection, services)

    async def measure(self, services: int, bare_seconds: float) -> Result:
        """Create, wait, idle, start again."""
        day, load = datetime.now(UTC).strftime("%Y-%m-%d"), os.getloadavg()[0]
        async with self._connection() as connection:
            operator = OperatorProcess.start(self.box.kubeconfig, self.folder)
            try:
                grown = await self._grow(connection, operator, services)
                load_after = os.getloadavg()[0]
                idle = await self._idle(operator)
            finally:
                operator.stop()
            again = await self._restart(services)
        loads: dict[str, Any] = {"load_before": load, "load_after": load_after}
        return Result(services=services, day=day, bare_seconds=bare_seconds, **loads, **grown, **idle, **again)

    async def _grow(self, connection: Connection, operator: OperatorProcess, services: int) -> dict[str, Any]:
        await asyncio.to_thread(operator.until_quiet, lambda _: True, timeout_seconds=60)
        applies, before = await _applies(connection), operator.figures()
        cluster, cpu = cluster_cpu(self.box), operator.cpu
        watches = [
            asyncio.create_task(workload.until_all(connection, kind, services, workload.is_there))
            for kind in workload.CHILDREN
        ]
        ready = asyncio.create_task(
            workload.until_all(connection, "LLMService", services, workload.is_ready, whole=True)
        )
        await asyncio.sleep(0.5)
        began, created = await workload.create(connection, services)
        async with asyncio.timeout(_LONGEST_SECONDS):
            children = max(await asyncio.gather(*watches))
            all_ready = await ready
        _, used = await asyncio.to_thread(operator.until_quiet, _nothing_waits, timeout_seconds=_LONGEST_SECONDS)
        figures, by_kind = operator.figures(), await _applies(connection)
        inside = operator.seen_inside()
        now, most = operator.memory
        return {
            "create_seconds": created - began,
            "children_seconds": children - created,
            "ready_seconds": all_ready - created,
            "cpu_ms_per_service": 1000 * (used - cpu) / services,
            "cluster_cpu_ms_per_service": {
                name: 1000 * (now - cluster.get(name, 0)) / services for name, now in cluster_cpu(self.box).items()
            },
            "passes_per_service": (figures.passes - before.passes) / services,
            "writes_per_service": (figures.writes - before.writes) / services,
            "reads_per_service": (figures.requests["GET"] - before.requests["GET"]) / services,
            "applies_per_service": {kind: count / services for kind, count in sorted((by_kind - applies).items())},
            "memory_mib": now,
            "most_memory_mib": most,
            "worst_lag_ms": inside["worst_lag_ms"],
            "parts": inside["parts"],
        }

    async def _idle(self, operator: OperatorProcess) -> dict[str, Any]:
        await asyncio.sleep(2)
        before = operator.figures()
        await asyncio.sleep(1)
        server = Journal(folder=self.box.spec.folder).running("kube-apiserver")
        assert server
        began, cpu, server_cpu = time.monotonic(), operator.cpu, cpu_seconds(server.pid)
        await asyncio.sleep(self.idle_seconds)
        took = time.monotonic() - began
        return {
            "idle_cpu_percent": 100 * (operator.cpu - cpu) / took,
            "idle_api_server_percent": 100 * (cpu_seconds(server.pid) - server_cpu) / took,
            "idle_memory_mib": operator.memory[0],
            "idle_writes": operator.figures().writes - before.writes,
        }

    async def _restart(self, services: int) -> dict[str, Any]:
        operator = OperatorProcess.start(self.box.kubeconfig, self.folder)

        def in_sync(figures: Figures) -> bool:
            return figures.passes >= services and _nothing_waits(figures)

        try:
            done, cpu = await asyncio.to_thread(operator.until_quiet, in_sync, timeout_seconds=_LONGEST_SECONDS)
            writes, memory = operator.figures().writes, operator.memory[0]
            inside = operator.seen_inside()
        finally:
            operator.stop()
        return {
            "restart_seconds": done - operator.started,
            "restart_cpu_seconds": cpu,
            "restart_writes": writes,
            "restart_memory_mib": memory,
            "restart_worst_lag_ms": inside["worst_lag_ms"],
        }

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        async with connect(await load_credentials(kubeconfig=str(self.box.kubeconfig))) as connection:
            yield connection


def cluster_cpu(box: Sandbox) -> dict[str, float]:
    """Seconds of CPU that each program of the cluster has used so far."""
    journal = Journal(folder=box.spec.folder)
    running = {name: journal.running(name) for name in journal.names()}
    return {name: cpu_seconds(process.pid) for name, process in running.items() if process}


def _nothing_waits(figures: Figures) -> bool:
    return figures.waiting == 0


async def _applies(connection: Connection) -> Counter[str]:
    """Server-side applies the API server has taken, by kind: in this cluster only the operator sends any."""
    text = (await connection.call_raw("GET", "/metrics", accept="text/plain")).decode()
    counts: Counter[str] = Counter()
    for labels, value in _APPLIES.findall(text):
        label = dict(_LABEL.findall(labels))
        kind = "/".join(filter(None, (label["resource"], label["subresource"])))
        counts[kind] += int(float(value))
    return counts
