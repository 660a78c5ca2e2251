"""Probes for engines with a /health endpoint: a busy engine must not be restarted."""

from llmservice.engines.engine import HttpProbe, Probes

_PATH = "/health"


def health_probes(*, startup_period_seconds: int) -> Probes:
    """Probes on /health; planning sets the failure threshold of the startup probe.

    A busy server answers late: only minutes without an answer count as hung.
    """
    return Probes(
        startup=HttpProbe(path=_PATH, period_seconds=startup_period_seconds, timeout_seconds=5, failures=1),
        readiness=HttpProbe(path=_PATH, period_seconds=5, timeout_seconds=15, failures=3),
        liveness=HttpProbe(path=_PATH, period_seconds=15, timeout_seconds=15, failures=10),
    )
