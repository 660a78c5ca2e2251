"""The metrics of a download, as long as it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from llmservice.download.progress import Progress
from llmservice.errors import InvalidInput


@dataclass(frozen=True, slots=True, eq=False)
class _Page(Collector):
    progress: Progress

    def collect(self) -> Iterator[Metric]:
        now = self.progress
        bytes_help = "Bytes of the model that are on the claim, whenever they came"
        yield CounterMetricFamily("llmservice_download_bytes", bytes_help, value=now.done)
        yield GaugeMetricFamily("llmservice_download_expected_bytes", "Bytes there will be at the end", now.expected)
        yield CounterMetricFamily("llmservice_download_files", "Files that are complete", value=now.files_done)
        yield GaugeMetricFamily("llmservice_download_expected_files", "Files of the model", now.files_expected)
        errors_help = "Requests that failed and files that were wrong, each of them tried again"
        yield CounterMetricFamily("llmservice_download_errors", errors_help, value=now.errors)


@contextmanager
def metrics_page(progress: Progress, port: int | None) -> Iterator[int]:
    """The page on every address of this machine, and its port; none without a port. Raises InvalidInput."""
    if port is None:
        yield 0
        return
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Page(progress))
    server, thread = _started(port, registry)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _started(port: int, registry: CollectorRegistry) -> tuple[WSGIServer, Thread]:
    """`::` takes IPv4 too; a machine without IPv6 has no such address."""
    try:
        return start_http_server(port, addr="::", registry=registry)
    except OSError:
        try:
            return start_http_server(port, addr="0.0.0.0", registry=registry)  # noqa: S104  (the pod's own address)
        except OSError as error:
            message = f"port {port} cannot be listened on: {error.strerror or error}"
            raise InvalidInput("PortNotFree", message, field="--metrics-port") from error
