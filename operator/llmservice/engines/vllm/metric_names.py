"""vLLM's metrics under the names of 0.10.2, 0.17.1, 0.24.0, 0.32.0 and 0.33.0 (vllm/v1/metrics/loggers.py of each).

Labels are `model_name` and `engine`, one set for each data-parallel engine; every series exists from the start.
"""

from collections.abc import Mapping

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.metric_names import MetricNames, Names, metric_names_of

_ALL_PROMPT_TOKENS = "vllm:prompt_tokens_total"
_KNOWN: Mapping[str, Names] = {
    "running": ("vllm:num_requests_running",),
    "waiting": ("vllm:num_requests_waiting",),
    "kv_use": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    "prompt_tokens": ('vllm:prompt_tokens_by_source_total{source="local_compute"}', _ALL_PROMPT_TOKENS),
    "generated_tokens": ("vllm:generation_tokens_total",),
    "finished": ("vllm:request_success_total",),
    "steps": ("vllm:iteration_tokens_total_count",),
    "preemptions": ("vllm:num_preemptions_total",),
    "finished_prompt_tokens": ("vllm:request_prefill_kv_computed_tokens_sum", "vllm:request_prompt_tokens_sum"),
    "inter_token_latency": ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
}
"""0.17.1 dropped the second names of `kv_use` and `inter_token_latency`, and counts computed prompt tokens apart."""

_ABSENT = {
    "rejected": "rejected requests are not counted by this version, so demand shows only in the queue",
    "tpot": "no time per output token of single requests: only the time to first token is checked",
    "slots": "spec.maxNumSeqs is the number of concurrent requests",
}
_CACHED = "tokens from the prefix cache count as processed: this version does not distinguish them"


def vllm_metric_names(version: EngineVersion) -> MetricNames:
    """The names of the metrics that the autoscaler reads, in this version."""
    present = {"prompt_tokens": _CACHED} if version.metrics.get("prompt_tokens") == _ALL_PROMPT_TOKENS else {}
    return metric_names_of(version, _KNOWN, absent=_ABSENT, present=present)
