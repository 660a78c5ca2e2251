"""Probes for engines that say on /health that they serve: slow is not dead."""

from llmservice.engines.engine import HttpProbe, Probes

_PATH = "/health"


def health_probes(*, startup_period_seconds: int) -> Probes:
    """Probes on /health; planning gives the startup probe the failures that make its budget.

    A busy server answers late: only minutes of silence mean that it is dead.
    """
    return Probes(
        startup=HttpProbe(path=_PATH, period_seconds=startup_period_seconds, timeout_seconds=5, failures=1),
        readiness=HttpProbe(path=_PATH, period_seconds=5, timeout_seconds=15, failures=3),
        liveness=HttpProbe(path=_PATH, period_seconds=15, timeout_seconds=15, failures=10),
    )
