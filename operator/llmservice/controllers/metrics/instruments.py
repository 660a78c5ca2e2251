"""The operator's own metrics: controller-runtime's names where it has one, so that stock dashboards work.

Source of the names: book.kubebuilder.io/reference/metrics-reference. No label holds a value that a user can invent,
except namespace and name of an LLMService, whose series end with it (`service_series`).
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)

from llmservice import __version__
from llmservice.engines.registry import ENGINES

CONTROLLER = "llmservice"
RESULTS = ("success", "requeue", "requeue_after", "error")

_PASS_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_START_SECONDS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400)
_QUEUE_SECONDS = (0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1000)


@dataclass(slots=True)
class Metrics:
    """All instruments, in a registry of their own. Instruments may be read from any thread.

    The first of them turns off the client's `_created` series, for the whole process: a second series for each counter,
    which nothing reads.
    """

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    reconciles: Counter = field(init=False)
    reconcile_errors: Counter = field(init=False)
    reconcile_panics: Counter = field(init=False)
    reconcile_seconds: Histogram = field(init=False)
    active_workers: Gauge = field(init=False)
    max_workers: Gauge = field(init=False)
    requests: Counter = field(init=False)
    autoscale_seconds: Histogram = field(init=False)
    catalogue_problem: Gauge = field(init=False)
    events_dropped: Counter = field(init=False)
    startup_phase_seconds: Histogram = field(init=False)

    def __post_init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._make_those_of_reconciles()
        self._make_the_others()
        self._start_at_zero()
        build = Gauge(
            "llmservice_build_info", "What runs here; always 1.", ["version", "python_version"], registry=self.registry
        )
        build.labels(__version__, platform.python_version()).set(1)
        ProcessCollector(registry=self.registry)

    def _make_those_of_reconciles(self) -> None:
        labels, runtime = ["controller"], "controller_runtime_"
        self.reconciles = Counter(
            runtime + "reconcile", "Passes by result.", [*labels, "result"], registry=self.registry
        )
        self.reconcile_errors = Counter(
            runtime + "reconcile_errors", "Passes that failed.", labels, registry=self.registry
        )
        self.reconcile_panics = Counter(
            runtime + "reconcile_panics", "Passes that failed by a defect.", labels, registry=self.registry
        )
        self.reconcile_seconds = Histogram(
            runtime + "reconcile_time_seconds",
            "Length of a pass.",
            labels,
            registry=self.registry,
            buckets=_PASS_SECONDS,
        )
        self.active_workers = Gauge(runtime + "active_workers", "Passes under way.", labels, registry=self.registry)
        self.max_workers = Gauge(
            runtime + "max_concurrent_reconciles", "Passes at once, at most.", labels, registry=self.registry
        )

    def _make_the_others(self) -> None:
        self.requests = Counter(
            "rest_client_requests", "Requests to the API server.", ["code", "method", "host"], registry=self.registry
        )
        self.autoscale_seconds = Histogram(
            "llmservice_autoscale_duration_seconds",
            "Length of a round of the autoscaler over all services: reading, deciding, acting.",
            registry=self.registry,
            buckets=_PASS_SECONDS,
        )
        self.catalogue_problem = Gauge(
            "llmservice_catalogue_problem",
            "1 while the ConfigMap with the administrator's catalogue is broken and the last good one is used.",
            registry=self.registry,
        )
        self.events_dropped = Counter(
            "llmservice_events_dropped",
            "Events not written because there were too many; the statuses say the same.",
            registry=self.registry,
        )

        self.startup_phase_seconds = Histogram(
            "llmservice_startup_phase_seconds",
            "Length of each phase of a start, of one replica at a time of each LLMService; `total` is their sum.",
            ["phase", "engine"],
            registry=self.registry,
            buckets=_START_SECONDS,
        )

    def observe_start(self, engine: str, phases: Mapping[str, int]) -> None:
        """Count a start that ended: seconds by phase. An engine that nobody knows has no series."""
        if engine in ENGINES:
            for phase, seconds in phases.items():
                self.startup_phase_seconds.labels(phase, engine).observe(seconds)

    def queue_counter(self, name: str, help_text: str) -> Counter:
        """A counter of the work queue."""
        return Counter(f"workqueue_{name}", help_text, ["name", "controller"], registry=self.registry)

    def queue_gauge(self, name: str, help_text: str) -> Gauge:
        """A gauge of the work queue."""
        return Gauge(f"workqueue_{name}", help_text, ["name", "controller"], registry=self.registry)

    def queue_histogram(self, name: str, help_text: str) -> Histogram:
        """A histogram of the work queue."""
        return Histogram(
            f"workqueue_{name}", help_text, ["name", "controller"], registry=self.registry, buckets=_QUEUE_SECONDS
        )

    def _start_at_zero(self) -> None:
        """A counter that appears with its first error cannot be alerted on."""
        for result in RESULTS:
            self.reconciles.labels(CONTROLLER, result)
        for instrument in (self.reconcile_errors, self.reconcile_panics, self.active_workers):
            instrument.labels(CONTROLLER)
