"""Amounts that follow from the size of the weights: memory, disk, /dev/shm, time to start."""

from typing import Any

import pytest

from llmservice.models.sizes import GIB
from llmservice.planning.service_plan import ServicePlan
from tests.unit.planning.knowing import LLAMA_8B, LLAMA_70B, SMALL_FACTS, vllm
from tests.unit.planning.planned import HUB, default_of, planned

_ON_CPU: dict[str, Any] = {"spec__model__facts": SMALL_FACTS | {"fileBytes": 10 * GIB, "quantization": "Q4_K_M"}}
_70B_ON_CLAIM = vllm("pvc://models/llama-70b", "A100-80GB-SXM", 4) | {
    "spec__model__facts": {"fileBytes": 141 * 10**9, "dtype": "bfloat16"}
}


def _folder(plan: ServicePlan, path: str) -> Any:
    return next((mount.source["emptyDir"] for mount in plan.pod.mounts if mount.path == path), None)


def test_a_download_has_room_on_the_node() -> None:
    plan = planned(**vllm())
    assert plan.container.resource_requests["ephemeral-storage"] == "25Gi"
    assert _folder(plan, "/cache") == {"sizeLimit": "58Gi"}


def test_a_claim_needs_none() -> None:
    plan = planned(**_70B_ON_CLAIM)
    assert "ephemeral-storage" not in plan.container.resource_requests
    assert _folder(plan, "/cache") == {}


def test_memory_of_the_host_follows_devices_and_weights() -> None:
    assert planned(**vllm()).container.resource_requests["memory"] == "6Gi"
    assert planned(**vllm(LLAMA_70B, "H100", 4)).container.resource_requests["memory"] == "30Gi"


@pytest.mark.parametrize(
    ("arguments", "memory"),
    [
        (["--cpu-offload-gb", "20"], "50Gi"),
        (["--kv-offloading-size=16"], "26Gi"),
        (["--cpu-offload-gb=much"], "10Gi"),
    ],
)
def test_what_options_keep_on_the_host_is_asked_for(arguments: list[str], memory: str) -> None:
    """On two devices; weights are offloaded from each of them."""
    plan = planned(**vllm(LLAMA_8B, "L4", 2, engineOptions={"args": arguments}))
    assert plan.container.resource_requests["memory"] == memory


def test_on_a_cpu_the_weights_are_in_it_and_it_is_limited() -> None:
    container = planned(**_ON_CPU).container
    assert (container.resource_requests["memory"], container.resource_limits["memory"]) == ("14Gi", "28Gi")
    variables = {item["name"]: item.get("value") for item in container.environment}
    assert variables["LLAMA_ARG_CACHE_RAM"] == str(28 * 1024 // 4)


def test_on_a_cpu_the_kv_cache_that_was_asked_for_is_in_it() -> None:
    """Llama 3.1 8B: 128 KiB a token, in four slots of llama.cpp or one request of vLLM."""
    facts = {"layers": 32, "heads": 32, "kvHeads": 8, "headSize": 128, "fileBytes": 5 * GIB, "quantization": "Q4_K_M"}
    container = planned(spec__model__facts=facts, spec__maxModelLen=40_960).container
    assert (container.resource_requests["memory"], container.resource_limits["memory"]) == ("26Gi", "52Gi")
    vllm_on_cpu = vllm(LLAMA_8B, maxModelLen=131_072) | {"spec__gpu": {"count": 0}}
    container = planned(**vllm_on_cpu).container
    assert (container.resource_requests["memory"], container.resource_limits["memory"]) == ("32Gi", "64Gi")
    variables = {item["name"]: item.get("value") for item in container.environment}
    assert variables["VLLM_CPU_KVCACHE_SPACE"] == "16"


def test_the_users_amounts_stay() -> None:
    container = planned(**_ON_CPU, spec__pod__resources={"requests": {"memory": "3Gi"}}).container
    assert (container.resource_requests["memory"], container.resource_limits["memory"]) == ("3Gi", "6Gi")
    limited = planned(**_ON_CPU, spec__pod__resources={"limits": {"memory": "12Gi"}}).container
    assert ("memory" in limited.resource_requests, limited.resource_limits["memory"]) == (False, "12Gi")


@pytest.mark.parametrize(
    ("changes", "size"),
    [
        (vllm(), None),
        (vllm(LLAMA_8B, "L4", 2), "2Gi"),
        (vllm(engineOptions={"args": ["--kv-offloading-size", "32"]}), "34Gi"),
        (vllm(engineOptions={"args": ["--kv-offloading-size=7.5"]}), "10Gi"),
        (vllm(engineOptions={"args": ["--kv-offloading-size=nan"]}), None),
        (vllm(pod__sharedMemory="16Gi"), "16Gi"),
    ],
)
def test_shared_memory_follows_what_uses_it(changes: dict[str, Any], size: str | None) -> None:
    folder = _folder(planned(**changes), "/dev/shm")  # noqa: S108  (a mount point)
    assert (folder or {}).get("sizeLimit") == size


def test_a_size_that_was_asked_for_is_no_default() -> None:
    assert default_of(planned(**vllm(pod__sharedMemory="16Gi")), "pod.sharedMemory") == ""
    assert default_of(planned(**vllm(LLAMA_8B, "L4", 2)), "pod.sharedMemory") == "2Gi"


def test_a_large_model_on_a_slow_volume_may_load() -> None:
    """141 GB at 125 MB/s are 1,128 s for reading alone."""
    assert planned(**_70B_ON_CLAIM).container.startup_seconds == 2597


def test_an_old_device_takes_longer_to_begin() -> None:
    large = {"spec__model__facts": {"fileBytes": 12 * 10**9, "dtype": "float16"}}
    claim = vllm("pvc://models/a") | large
    seconds = [planned(**claim | {"spec__gpu": {"type": gpu}}).container.startup_seconds for gpu in ("L4", "T4")]
    assert seconds == [900, 918]


def test_of_an_unknown_model_the_budget_suits_large_ones() -> None:
    assert planned(**HUB).container.startup_seconds == 3600
