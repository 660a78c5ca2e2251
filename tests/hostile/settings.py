"""What a run is told from outside, and the names of the operator's settings that these tests depend on."""

import os

SEED = os.environ.get("SEED") or "1"
"""What is generated follows from it; printed, so that it can be given again."""

HEALTH_PORT = "LLMSERVICE_PROBE_PORT"
"""The setting of the port that the kubelet probes."""
METRICS_PORT = "LLMSERVICE_METRICS_PORT"
"""That of the port of the metrics."""
METRICS_SCHEME = "https"
