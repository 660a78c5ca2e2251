"""What `/metrics` says, in the format of Prometheus.

Latencies begin when a request has been read, so that waiting for a place is part of the time to the first token.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ctranslate2_server.places import Places

REASONS = ("stop", "length", "cancelled")
REFUSALS = (400, 404, 413, 429, 503)

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_SHORT_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.2, 2.5, 5)


class Metrics:
    """The instruments of one server, in a registry of their own."""

    def __init__(self, places: Places) -> None:
        self._registry = CollectorRegistry()
        self._gauge("requests_running", "Requests that are being generated for.", lambda: places.running)
        self._gauge("requests_waiting", "Requests that wait for a place.", lambda: places.waiting)
        self.prompt_tokens = self._counter("prompt_tokens", "Tokens of prompts that were taken into the engine.")
        self.generated_tokens = self._counter("generated_tokens", "Tokens that were generated.")
        self.finished = self._counter("requests_finished", "Requests that ended, by how.", "reason")
        self.rejected = self._counter("requests_rejected", "Requests that were refused, by status.", "status")
        self.first_token = self._histogram("time_to_first_token_seconds", "From request to first token.", _SECONDS)
        self.inter_token = self._histogram("inter_token_latency_seconds", "Between two tokens.", _SHORT_SECONDS)
        # From the start, so that what never happened is zero and not unknown.
        for reason in REASONS:
            self.finished.labels(reason)
        for status in REFUSALS:
            self.rejected.labels(status)
        self.request = self._histogram("request_duration_seconds", "From request to last token.", _SECONDS)

    def page(self) -> bytes:
        """The exposition."""
        return generate_latest(self._registry)

    def _gauge(self, name: str, text: str, value: object) -> None:
        Gauge(f"ctranslate2_{name}", text, registry=self._registry).set_function(value)  # type: ignore[arg-type]

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"ctranslate2_{name}", text, labels, registry=self._registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(f"ctranslate2_{name}", text, buckets=buckets, registry=self._registry)
