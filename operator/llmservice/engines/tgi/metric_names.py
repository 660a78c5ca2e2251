"""TGI's metrics, the same names in 3.0 to 3.3; no labels but `err`.

Source: router/src/{server,validation}.rs, router/src/infer/mod.rs, backends/v3/src/{queue,backend}.rs. A series is
created with its first event, so a fresh replica answers with an empty page.
"""

from collections.abc import Mapping

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.metric_names import MetricNames, Names, metric_names_of

_KNOWN: Mapping[str, Names] = {
    "running": ("tgi_batch_current_size",),
    "waiting": ("tgi_queue_size",),
    "prompt_tokens": ("tgi_request_input_length_sum",),
    "generated_tokens": ("tgi_request_generated_tokens_sum",),
    "finished": ("tgi_request_success",),
    "steps": ("tgi_batch_inference_count",),
}
_CREATED_ON_FIRST_USE = frozenset((*_KNOWN, "rejected", "tpot", "inter_token_latency"))
_ABSENT = {
    "kv_use": "no gauge of KV-cache usage: requests are admitted only when the whole answer fits, so a full cache "
    "shows as waiting requests; a KV-cache target cannot be used",
    "ttft": "no time to first token: only the time per output token is checked against the objective",
    "slots": "spec.maxNumSeqs is the number of concurrent requests",
    "preemptions": "requests are never preempted: they are admitted only when the whole answer fits",
}
_PRESENT = {
    "inter_token_latency": "no inter-token latency: the mean time per token of finished requests, prompt included, "
    "stands in for it",
    "prompt_tokens": "prompt tokens are counted when a request is admitted, including those from the prefix cache",
    "generated_tokens": "generated tokens are counted when a request ends",
}


def tgi_metric_names(version: EngineVersion) -> MetricNames:
    """The names of the metrics that the autoscaler reads, in this version."""
    return metric_names_of(
        version, _KNOWN, absent=_ABSENT, present=_PRESENT, created_on_first_use=_CREATED_ON_FIRST_USE
    )
