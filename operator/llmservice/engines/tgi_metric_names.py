"""TGI's metrics, the same names in 3.0 to 3.3; no labels but `err`.

Source: router/src/{server,validation}.rs, router/src/infer/mod.rs, backends/v3/src/{queue,backend}.rs. A series comes
into being with its first event, so a fresh replica answers with an empty page.
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
}
_CREATED_ON_FIRST_USE = frozenset((*_KNOWN, "rejected", "tpot", "inter_token_latency"))
_ABSENT = {
    "kv_use": "no gauge of the KV cache: it admits a request only when its whole answer fits, so a full cache shows as "
    "waiting requests; a target for the KV cache cannot be met",
    "ttft": "no time to the first token: only the time per output token is held against the objective",
    "slots": "spec.maxNumSeqs is what it works on at once",
}
_PRESENT = {
    "inter_token_latency": "no inter-token latency: the mean time per token of each finished request, its prompt "
    "included, stands in for it",
    "prompt_tokens": "prompt tokens count when a request is admitted, those from the prefix cache too",
    "generated_tokens": "generated tokens count when a request ends",
}


def tgi_metric_names(version: EngineVersion) -> MetricNames:
    """How this version exports what the autoscaler asks for."""
    return metric_names_of(
        version, _KNOWN, absent=_ABSENT, present=_PRESENT, created_on_first_use=_CREATED_ON_FIRST_USE
    )
