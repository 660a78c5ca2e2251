"""The recording rules: each replica counts once, under the name that its own version has."""

from pathlib import Path

import pytest

from llmservice.catalog.metrics import Series
from tests.charts.promtool import Moment, difference
from tools.dashboard.engine_rules import _selector

CHAT = 'namespace="ml", name="chat"'


def of(pod: str, **labels: str) -> str:
    more = "".join(f', {name}="{value}"' for name, value in labels.items())
    return f'{{{CHAT}, pod="{pod}"{more}}}'


def recorded(name: str, engine: str, pod: str = "") -> str:
    labels = [f'engine="{engine}"', 'name="chat"', 'namespace="ml"', *([f'pod="{pod}"'] if pod else [])]
    return f"{name}{{{', '.join(labels)}}}"


def devices(kind: str, instance: str) -> str:
    labels = f'{CHAT}, accelerator="L4", resource="nvidia.com/gpu", kind="{kind}", instance="{instance}"'
    return f"llmservice_devices{{{labels}}}"


CASES = {
    "in a rollout both versions count": (
        {
            f"vllm:gpu_cache_usage_perc{of('old')}": "0.5x9",
            f"vllm:kv_cache_usage_perc{of('new')}": "0.25x9",
        },
        {
            recorded("llmservice:kv_cache_usage", "vllm", "old"): 0.5,
            recorded("llmservice:kv_cache_usage", "vllm", "new"): 0.25,
        },
    ),
    "a version with both names counts once, by the newer": (
        {
            f"vllm:prompt_tokens_total{of('a')}": "0+6000x9",
            f"vllm:prompt_tokens_by_source_total{of('a', source='local_compute')}": "0+600x9",
            f"vllm:prompt_tokens_by_source_total{of('a', source='prefix_cache')}": "0+5400x9",
            f"vllm:prompt_tokens_total{of('b')}": "0+60x9",
        },
        {recorded("llmservice:prompt_tokens:rate5m", "vllm"): 11},
    ),
    "data-parallel engines are added up, their caches averaged": (
        {
            f"vllm:num_requests_running{of('a', engine='0')}": "3x9",
            f"vllm:num_requests_running{of('a', engine='1')}": "4x9",
            f"vllm:kv_cache_usage_perc{of('a', engine='0')}": "0.2x9",
            f"vllm:kv_cache_usage_perc{of('a', engine='1')}": "0.4x9",
        },
        {
            recorded("llmservice:requests_running", "vllm", "a"): 7,
            recorded("llmservice:kv_cache_usage", "vllm", "a"): 0.30000000000000004,
        },
    ),
    "two queues of one engine are one": (
        {
            f"lmdeploy:num_requests_waiting{of('a')}": "2x9",
            f"lmdeploy:num_api_requests_waiting{of('a')}": "3x9",
        },
        {recorded("llmservice:requests_waiting", "lmdeploy", "a"): 5},
    ),
    "a queue by priority counts once": (
        {
            f"sglang:num_queue_reqs{of('a')}": "5x9",
            f"sglang:num_queue_reqs{of('a', priority='1')}": "2x9",
        },
        {recorded("llmservice:requests_waiting", "sglang", "a"): 5},
    ),
    "devices are those of one replica of the operator": (
        {devices(kind, instance): "4x9" for kind in ("desired", "current", "ready") for instance in ("a", "b")},
        {'llmservice:devices:held{accelerator="L4", name="chat", namespace="ml", resource="nvidia.com/gpu"}': 4},
    ),
}


@pytest.mark.parametrize(("series", "expected"), CASES.values(), ids=CASES)
def test_what_is_recorded(series: dict[str, str], expected: dict[str, float], tmp_path: Path) -> None:
    assert difference(Moment(series, 8), expected, tmp_path) == ""


def test_a_difference_would_be_noticed(tmp_path: Path) -> None:
    series, _ = CASES["two queues of one engine are one"]
    wrong = {recorded("llmservice:requests_waiting", "lmdeploy", "a"): 4.0}
    assert "got" in difference(Moment(series, 8), wrong, tmp_path)


def test_a_number_in_a_label_is_refused() -> None:
    with pytest.raises(ValueError, match="which no rule can record"):
        _selector(Series.parse("acme:engine_info[slots]"))
