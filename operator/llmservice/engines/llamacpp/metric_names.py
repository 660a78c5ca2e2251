"""llama.cpp's metrics (tools/server/server-task.cpp, server-context.cpp): no labels, all series from the start.

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
    "steps": ("llamacpp:n_decode_total",),
}
_NO_LATENCY = "no latency histograms: the objective cannot be checked, and Learned uses requests per replica"
_ABSENT = {
    "kv_use": "no gauge of KV-cache usage: every slot owns its part, so busy slots (running of spec.maxNumSeqs) "
    "stand in for it; a KV-cache target cannot be used",
    "finished": "finished requests are not counted, so the arrival rate is unknown: only running and waiting are known",
    "rejected": "requests are never rejected: the queue is unbounded",
    "ttft": _NO_LATENCY,
    "tpot": _NO_LATENCY,
    "inter_token_latency": _NO_LATENCY,
    "slots": "spec.maxNumSeqs is the number of slots",
    "preemptions": "requests are never preempted: every slot owns its part of the KV cache",
}
_PRESENT = {"generated_tokens": "generated tokens are counted when a request ends"}


def llamacpp_metric_names(version: EngineVersion) -> MetricNames:
    """The names of the metrics that the autoscaler reads, in this version."""
    return metric_names_of(version, _KNOWN, absent=_ABSENT, present=_PRESENT)
