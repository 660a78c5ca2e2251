"""llama.cpp's metrics (tools/server/server-task.cpp, server-context.cpp): no labels, every series from the start.

The gauges of its KV cache were removed (pull request 13660), and it has no histograms.
"""

from collections.abc import Mapping

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.metric_names import MetricNames, Names, metric_names_of

_KNOWN: Mapping[str, Names] = {
    "running": ("llamacpp:requests_processing",),
    "waiting": ("llamacpp:requests_deferred",),
    "prompt_tokens": ("llamacpp:prompt_tokens_total",),
    "generated_tokens": ("llamacpp:tokens_predicted_total",),
}
_NO_LATENCY = "no latency histograms: objectives cannot be checked, and Learned keeps a number of requests per replica"
_ABSENT = {
    "kv_use": "no gauge of the KV cache: each slot owns its part of it, so slots in use (running of spec.maxNumSeqs) "
    "stand in for it; a target for the KV cache cannot be met",
    "finished": "finished requests are not counted, so arrivals are not known: only what runs and waits is",
    "rejected": "it refuses no request: all wait, without a limit",
    "ttft": _NO_LATENCY,
    "tpot": _NO_LATENCY,
    "inter_token_latency": _NO_LATENCY,
    "slots": "spec.maxNumSeqs is the number of slots",
}
_PRESENT = {"generated_tokens": "generated tokens count when a request ends"}


def llamacpp_metric_names(version: EngineVersion) -> MetricNames:
    """How this version exports what the autoscaler asks for."""
    return metric_names_of(version, _KNOWN, absent=_ABSENT, present=_PRESENT)
