"""LMDeploy's metrics, the same names in 0.14.0 to 0.18.0 (metrics/loggers.py, metrics/stats.py, api_server.py).

Labels are `model_name` and `engine`; every series exists from the start. The gauges are set every ten seconds. A
request waits for one of --max-batch-size handles, then in the engine for memory: both count as waiting.
"""

from collections.abc import Mapping

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.metric_names import MetricNames, Names, metric_names_of

_KNOWN: Mapping[str, Names] = {
    "running": ("lmdeploy:num_requests_running",),
    "waiting": ("lmdeploy:num_requests_waiting+lmdeploy:num_api_requests_waiting",),
    "kv_use": ("lmdeploy:gpu_cache_usage_perc",),
    "prompt_tokens": ("lmdeploy:prompt_tokens_total",),
    "generated_tokens": ("lmdeploy:generation_tokens_total",),
    "finished": ("lmdeploy:request_success_total",),
    "steps": ("lmdeploy:iteration_tokens_total_count",),
}
_ABSENT = {
    "rejected": "requests are never rejected: the queue is unbounded",
    "tpot": "no time per output token of single requests: only the time to first token is checked",
    "slots": "spec.maxNumSeqs is the number of concurrent requests",
    "preemptions": "preempted requests are not counted: a full KV cache shows as waiting requests",
}
_PRESENT = {
    "running": "running and waiting requests are counted every ten seconds",
    "prompt_tokens": "tokens from the prefix cache count as processed: this version does not distinguish them",
}


def lmdeploy_metric_names(version: EngineVersion) -> MetricNames:
    """The names of the metrics that the autoscaler reads, in this version."""
    return metric_names_of(version, _KNOWN, absent=_ABSENT, present=_PRESENT)
