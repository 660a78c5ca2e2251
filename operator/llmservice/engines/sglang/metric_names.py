"""SGLang's metrics, the same names in 0.5.9 to 0.5.23 unless a row says otherwise.

Source: metrics/collector.py, since 0.5.10 observability/metrics_collector.py, and the places that call them. Labels are
`model_name`, `engine_type`, `tp_rank`, `pp_rank`, `moe_ep_rank`, and where there are several `dp_rank`; only the first
device of a replica reports. With priority scheduling each queue has a label set for each priority, and one with an
empty `priority` for all of them. A series is created with its first event. The gauges are set with each prompt, every
40 steps of decoding, and when the engine becomes idle.
"""

from collections.abc import Mapping

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.metric_names import MetricNames, Names, metric_names_of

_KNOWN: Mapping[str, Names] = {
    "running": ('sglang:num_running_reqs{priority=""}',),
    "waiting": ('sglang:num_queue_reqs{priority=""}',),
    "kv_use": ("sglang:token_usage",),
    "prompt_tokens": ('sglang:realtime_tokens_total{mode="prefill_compute"}',),
    "generated_tokens": ('sglang:realtime_tokens_total{mode="decode"}',),
    "finished": ("sglang:num_requests_total",),
    "preemptions": ("sglang:num_retracted_requests_total",),
    "finished_prompt_tokens": ("sglang:uncached_prompt_tokens_histogram_sum", "sglang:prompt_tokens_total"),
}
_FIRST_USE = frozenset(
    (
        *("running", "waiting", "kv_use", "prompt_tokens", "generated_tokens", "finished", "preemptions"),
        *("finished_prompt_tokens", "finished_generated_tokens", "ttft", "tpot", "inter_token_latency"),
    )
)
_ABSENT = {
    "rejected": "requests are not rejected unless --max-queued-requests is set, and then not counted",
    "tpot": "no time per output token of single requests: only the time to first token is checked",
    "slots": "spec.maxNumSeqs is the number of concurrent requests",
    "steps": "steps are not counted: tokens are, with every step",
}


def sglang_metric_names(version: EngineVersion) -> MetricNames:
    """The names of the metrics that the autoscaler reads, in this version."""
    created = frozenset(role for role in _FIRST_USE if role in _KNOWN or role in version.metrics)
    return metric_names_of(version, _KNOWN, absent=_ABSENT, present={}, created_on_first_use=created)
