import re

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.engine_options import EngineOptions
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.arguments import check_arguments
from llmservice.engines.engine import ModelSource
from llmservice.engines.recorded_arguments import check_recorded
from llmservice.engines.vllm.engine import ENGINE as VLLM
from llmservice.errors import InvalidSpec
from tests.unit.engines.hub_request import a_request, a_version, option

VERSIONS = sorted(load_catalogue().engines["vllm"].versions)
WITHOUT_DRAIN = ["0.10.2", "0.17.1"]


@pytest.mark.parametrize("version", VERSIONS)
def test_always_starts_vllm_serve_with_the_model_first(version: str) -> None:
    launch = VLLM.launch(a_request(a_version("vllm", version)))
    assert (*launch.command, launch.args[0]) == ("vllm", "serve", "owner/model")


def test_loads_a_folder_of_a_claim_by_its_path() -> None:
    model = ModelSource(scheme="pvc", path="/models/qwen")
    assert VLLM.launch(a_request(a_version("vllm"), model=model)).args[0] == "/models/qwen"


def test_streams_weights_from_a_bucket() -> None:
    model = ModelSource(scheme="s3", repository="s3://bucket/qwen")
    launch = VLLM.launch(a_request(a_version("vllm"), model=model))
    assert (launch.args[0], option(launch, "--load-format")) == ("s3://bucket/qwen", "runai_streamer")


def test_names_are_followed_by_an_option_so_that_they_swallow_nothing() -> None:
    args = VLLM.launch(a_request(a_version("vllm"), names=("chat", "gpt"))).args
    start = args.index("--served-model-name")
    assert (args[start + 1 : start + 3], args[start + 3][:2]) == (("chat", "gpt"), "--")


@pytest.mark.parametrize("checkpoint", ["auto", "awq", "gptq", "fp8", "compressed-tensors"])
@pytest.mark.parametrize("version", VERSIONS)
def test_says_nothing_about_a_checkpoint_that_is_quantized(version: str, checkpoint: str) -> None:
    launch = VLLM.launch(a_request(a_version("vllm", version), quantization=checkpoint))
    assert option(launch, "--quantization") is None


@pytest.mark.parametrize(
    ("version", "asked", "own"),
    [
        ("0.10.2", "online-fp8", "fp8"),
        ("0.10.2", "online-int8", "rtn"),
        ("0.17.1", "online-fp8", "fp8"),
        ("0.24.0", "online-fp8", "fp8_per_tensor"),
        ("0.24.0", "online-nf4", "bitsandbytes"),
        ("0.33.0", "online-fp8-channel", "fp8_per_channel"),
        ("0.33.0", "online-int8", "int8_per_channel_weight_only"),
    ],
)
def test_calls_a_quantization_on_load_by_the_versions_own_name(version: str, asked: str, own: str) -> None:
    launch = VLLM.launch(a_request(a_version("vllm", version), quantization=asked))
    assert option(launch, "--quantization") == own


@pytest.mark.parametrize(("devices", "size"), [(0, None), (1, "1"), (4, "4")])
def test_spreads_over_the_devices_of_the_replica(devices: int, size: str | None) -> None:
    assert option(VLLM.launch(a_request(a_version("vllm"), devices=devices)), "--tensor-parallel-size") == size


@pytest.mark.parametrize(("requests", "tokens"), [(16, None), (2048, None), (2049, "8192"), (9000, "9000")])
def test_a_step_has_room_for_a_token_of_each_request(requests: int, tokens: str | None) -> None:
    launch = VLLM.launch(a_request(a_version("vllm"), max_num_seqs=requests))
    assert option(launch, "--max-num-batched-tokens") == tokens


def test_finishes_requests_after_sigterm() -> None:
    launch = VLLM.launch(a_request(a_version("vllm"), drain_seconds=120))
    assert option(launch, "--shutdown-timeout") == "120"
    assert (launch.pre_stop_seconds, launch.stop_seconds) == (5, 130)


@pytest.mark.parametrize("version", WITHOUT_DRAIN)
def test_waits_before_sigterm_where_the_version_would_drop_requests(version: str) -> None:
    launch = VLLM.launch(a_request(a_version("vllm", version), drain_seconds=120))
    assert option(launch, "--shutdown-timeout") is None
    assert (launch.pre_stop[-2], launch.pre_stop_seconds, launch.stop_seconds) == ("125", 125, 10)


@pytest.mark.parametrize(("version", "known"), [("0.10.2", False), ("0.17.1", True)])
def test_keeps_probes_out_of_the_access_log_where_the_version_can(version: str, known: bool) -> None:
    launch = VLLM.launch(a_request(a_version("vllm", version)))
    assert (option(launch, "--disable-access-log-for-endpoints") == "/health,/metrics") is known


def test_runs_remote_code_only_on_request() -> None:
    version = a_version("vllm")
    assert "--trust-remote-code" not in VLLM.launch(a_request(version)).args
    assert "--trust-remote-code" in VLLM.launch(a_request(version, trust_remote_code=True)).args


def test_keeps_every_cache_on_the_writable_volume() -> None:
    launch = VLLM.launch(a_request(a_version("vllm")))
    paths = [launch.environment[name] for name in ("HOME", "HF_HOME", "VLLM_CACHE_ROOT")]
    assert (launch.writable_paths, paths) == (("/cache",), ["/cache", "/cache/huggingface", "/cache/vllm"])


@pytest.mark.parametrize(("limit_gib", "kv_cache"), [(0, "4"), (2, "1"), (32, "8")])
def test_the_kv_cache_on_cpu_goes_by_the_containers_memory(limit_gib: int, kv_cache: str) -> None:
    launch = VLLM.launch(a_request(a_version("vllm"), devices=0, memory_bytes=limit_gib * 2**30))
    assert launch.environment["VLLM_CPU_KVCACHE_SPACE"] == kv_cache
    assert [default.value for default in launch.defaults] == [kv_cache]


def test_threads_on_cpu_go_by_the_containers_cores() -> None:
    environment = VLLM.launch(a_request(a_version("vllm"), devices=0, cores=3.5)).environment
    assert (environment["OMP_NUM_THREADS"], environment["VLLM_CPU_OMP_THREADS_BIND"]) == ("4", "nobind")


def test_on_devices_neither_threads_nor_kv_cache_are_set() -> None:
    launch = VLLM.launch(a_request(a_version("vllm"), cores=4, memory_bytes=2**34))
    assert not {"OMP_NUM_THREADS", "VLLM_CPU_KVCACHE_SPACE"} & set(launch.environment)


@pytest.mark.parametrize("version", VERSIONS)
def test_is_not_process_1_which_ignores_sigterm_while_python_reads_vllm(version: str) -> None:
    assert VLLM.launch(a_request(a_version("vllm", version))).needs_init


@pytest.mark.parametrize(("devices", "needed"), [(0, True), (1, False)])
def test_on_cpu_its_processes_need_shared_memory(devices: int, needed: bool) -> None:
    assert VLLM.launch(a_request(a_version("vllm"), devices=devices)).needs_shared_memory is needed


def test_a_wrong_dtype_names_the_field() -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.dtype: fp16 .* auto, half, float16"):
        VLLM.launch(a_request(a_version("vllm"), dtype="fp16"))


@pytest.mark.parametrize("written", ["--max-num-seqs=9", "--max_num_seqs", "-tp", "-q", "--api-key=x", "--config=f"])
def test_what_the_operator_owns_is_refused(written: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        check_arguments(VLLM, a_version("vllm", "0.33.0"), [written], [])
    assert refused.value.reason == Reason.OWNED_ARGUMENT


@pytest.mark.parametrize("name", ["VLLM_API_KEY", "HF_TOKEN", "HF_HOME", "VLLM_USE_MODELSCOPE"])
def test_owned_variables_are_refused(name: str) -> None:
    with pytest.raises(InvalidSpec, match=name):
        check_arguments(VLLM, a_version("vllm", "0.33.0"), [], [name])


def checked(version: str, *args: str) -> tuple[str, ...]:
    recordings = load_catalogue().engines["vllm"].recordings
    return check_recorded(VLLM, a_version("vllm", version), recordings, EngineOptions(args=args))


@pytest.mark.parametrize(
    ("version", "written", "instead"),
    [
        ("0.24.0", "--swap-space=4", "--kv-offloading-size"),
        ("0.17.1", "--disable-log-requests", "leave it out"),
        ("0.33.0", "--task", "--runner"),
        ("0.33.0", "--guided-decoding-backend", "--structured-outputs-config.backend"),
    ],
)
def test_an_option_that_was_removed_is_named_with_what_to_do(version: str, written: str, instead: str) -> None:
    with pytest.raises(InvalidSpec, match=re.escape(instead)):
        checked(version, written)


def test_an_option_that_came_back_is_passed_on() -> None:
    checked("0.33.0", "--disable-log-requests")


def test_an_owned_option_is_refused_by_its_beginning_and_no_other_option_with_it() -> None:
    known = frozenset[str]().union(*(a_version("vllm", version).flags for version in VERSIONS))
    whole = {flag for flag in VLLM.owned.flags if flag in known}
    assert "--max-num-s" in VLLM.owned.flags
    assert {"--max-num-seqs", "--port", "-tp"} <= whole
    assert not {"--max-num-batched-tokens", "--gpu-memory-utilization", "--model-impl", "--seed"} & whole
    assert [flag for flag in VLLM.owned.flags if not any(each.startswith(flag) for each in whole)] == []
