"""The server's metrics: images/ctranslate2/ctranslate2_server/metrics.py, the same names in every version."""

from collections.abc import Mapping

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.metric_names import MetricNames, Names, metric_names_of

_KNOWN: Mapping[str, Names] = {
    "running": ("ctranslate2_requests_running",),
    "waiting": ("ctranslate2_requests_waiting",),
    "prompt_tokens": ("ctranslate2_prompt_tokens_total",),
    "generated_tokens": ("ctranslate2_generated_tokens_total",),
    "finished": ("ctranslate2_requests_finished_total",),
}
_ABSENT = {
    "kv_use": "no gauge of KV-cache usage: each request has memory of its own, and requests that run, of "
    "spec.maxNumSeqs, stand in for it; a KV-cache target cannot be used",
    "tpot": "no time per output token of a request: the time between two tokens is checked against the objective",
    "slots": "spec.maxNumSeqs is the number of concurrent requests",
    "steps": "steps are not counted: each request is computed by itself",
    "preemptions": "requests are never preempted: each has memory of its own",
}
_PRESENT = {
    "ttft": "time to first token begins when the request was read: waiting for a place is part of it",
    "prompt_tokens": "prompt tokens are counted when a request begins to run",
    "finished": "requests that ended, those that clients gave up too",
}


def ctranslate2_metric_names(version: EngineVersion) -> MetricNames:
    """The names of the metrics that the autoscaler reads, in this version."""
    return metric_names_of(version, _KNOWN, absent=_ABSENT, present=_PRESENT)
