"""What is measured while the operator works: passes, the queue, requests to the API server."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import aiohttp

from llmservice.controllers.metrics.instruments import CONTROLLER, Metrics
from llmservice.errors import Conflict, NotYet, OperatorError
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import Reconcile, ServiceKey


@dataclass(frozen=True, slots=True)
class Measured:
    """A reconciler with a stop-watch. Results are named as in controller-runtime.

    | ends with                | result        |
    |--------------------------|---------------|
    | None                     | success       |
    | seconds                  | requeue_after |
    | Conflict, NotYet         | requeue       |
    | another error of ours    | error         |
    | anything else: a defect  | error (panic) |
    """

    reconcile: Reconcile
    metrics: Metrics

    async def __call__(self, key: ServiceKey) -> float | None:
        """One pass."""
        metrics = self.metrics
        with (
            metrics.active_workers.labels(CONTROLLER).track_inprogress(),
            metrics.reconcile_seconds.labels(CONTROLLER).time(),
        ):
            try:
                again = await self.reconcile(key)
            except (Conflict, NotYet):
                self._ended("requeue")
                raise
            except Exception as error:
                self._ended("error")
                metrics.reconcile_errors.labels(CONTROLLER).inc()
                if not isinstance(error, OperatorError):
                    metrics.reconcile_panics.labels(CONTROLLER).inc()
                raise
        self._ended("success" if again is None else "requeue_after")
        return again

    def _ended(self, result: str) -> None:
        self.metrics.reconciles.labels(CONTROLLER, result).inc()


class MeasuredQueue(WorkQueue[ServiceKey]):
    """A work queue that takes namespaces as tenants, and measures its length and how long keys wait and take."""

    __slots__ = ("_adds", "_clock", "_queued_at", "_retries", "_taken_at", "_waits", "_works")

    def __init__(self, metrics: Metrics, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(tenant=_namespace)
        labels = ("llmservice", CONTROLLER)
        self._clock = clock
        self._queued_at: dict[ServiceKey, float] = {}
        self._taken_at: dict[ServiceKey, float] = {}
        self._adds = metrics.queue_counter("adds", "Keys queued.").labels(*labels)
        self._retries = metrics.queue_counter("retries", "Keys queued again after a failure.").labels(*labels)
        self._waits = metrics.queue_histogram("queue_duration_seconds", "Time in the queue.").labels(*labels)
        self._works = metrics.queue_histogram("work_duration_seconds", "Time with a worker.").labels(*labels)
        for name, help_text, figure in (
            ("depth", "Keys waiting.", lambda: float(len(self))),
            ("unfinished_work_seconds", "Sum of the times keys are with a worker.", lambda: sum(self._running())),
            (
                "longest_running_processor_seconds",
                "The longest time a key is with a worker.",
                lambda: max(self._running(), default=0.0),
            ),
        ):
            metrics.queue_gauge(name, help_text).labels(*labels).set_function(figure)

    async def take(self) -> ServiceKey:
        """The next key; it belongs to the caller until `done`."""
        key = await super().take()
        self._taken_at[key] = self._clock()
        self._waits.observe(self._taken_at[key] - self._queued_at.pop(key))
        return key

    def done(self, key: ServiceKey) -> None:
        """Give a key back; it comes again if it was added meanwhile."""
        self._works.observe(self._clock() - self._taken_at.pop(key))
        super().done(key)

    def retry(self, key: ServiceKey, at_least_seconds: float = 0.0) -> float:
        """Look at a failed key again, later after each failure in a row."""
        self._retries.inc()
        return super().retry(key, at_least_seconds)

    def _queued(self, key: ServiceKey) -> None:
        self._adds.inc()
        self._queued_at[key] = self._clock()

    def _running(self) -> list[float]:
        """Copied first: another thread asks, and a dict must not change while it is walked."""
        now = self._clock()
        return [now - taken_at for taken_at in [*self._taken_at.values()]]


def _namespace(key: ServiceKey) -> str:
    return key[0]


def count_requests(session: aiohttp.ClientSession, metrics: Metrics) -> None:
    """Count what the session sends; a request without an answer has the code `<error>`, as in client-go."""

    async def answered(_: aiohttp.ClientSession, __: SimpleNamespace, request: aiohttp.TraceRequestEndParams) -> None:
        metrics.requests.labels(str(request.response.status), request.method, _host(request)).inc()

    async def failed(
        _: aiohttp.ClientSession, __: SimpleNamespace, request: aiohttp.TraceRequestExceptionParams
    ) -> None:
        metrics.requests.labels("<error>", request.method, _host(request)).inc()

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(answered)
    trace.on_request_exception.append(failed)
    trace.freeze()
    session.trace_configs.append(trace)


def _host(request: aiohttp.TraceRequestEndParams | aiohttp.TraceRequestExceptionParams) -> str:
    return request.url.authority
