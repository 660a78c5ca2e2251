"""An engine that measures nothing: for tests of the proxy that stands before such engines."""

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.draining import wait_for_proxy
from llmservice.engines.engine import (
    Capabilities,
    HttpProbe,
    Launch,
    LogPattern,
    OwnedArguments,
    Probes,
    ServingRequest,
)
from llmservice.engines.metric_names import MetricNames

LOADED = "it's loaded: 100%"
"""What a probe's answer must contain: with characters that mean something to a proxy's configuration."""


def probe(path: str, expects: str = "") -> HttpProbe:
    """A probe of this path."""
    return HttpProbe(path=path, period_seconds=5, timeout_seconds=10, failures=30, expects=expects)


class Silent:
    """An engine without metrics, without a queue and without keys."""

    name = "silent"
    capabilities = Capabilities(schemes=frozenset({"hf"}), proxied=True)
    owned = OwnedArguments(flags={}, environment={})
    flags = frozenset({"--listen"})
    log_patterns: tuple[LogPattern, ...] = ()

    def launch(self, request: ServingRequest) -> Launch:
        """Where to listen, and three probes of two paths."""
        ready = probe("/api/ps", LOADED)
        return Launch(
            args=("--listen", f"{request.host}:{request.port}"),
            probes=Probes(startup=ready, readiness=ready, liveness=probe("/api/version")),
            pre_stop=wait_for_proxy(request),
            pre_stop_seconds=request.drain_seconds + 5,
            stop_seconds=5,
        )

    def metric_names(self, _version: EngineVersion) -> MetricNames:
        """None of its own."""
        return MetricNames()
