"""SGLang: arguments, environment and stopping, as its released packages have them."""

import dataclasses
from pathlib import Path

import pytest

from llmservice.api.v1alpha1.engine_options import EngineOptions
from llmservice.catalog.loader import load_catalogue
from llmservice.converging.pod_readings import Reading
from llmservice.engines.arguments import check_arguments
from llmservice.engines.command_line import uses_in
from llmservice.engines.engine import LOOPBACK, PROXIED_PORT, ModelSource
from llmservice.engines.recorded_arguments import check_recorded
from llmservice.engines.sglang.engine import ENGINE as SGLANG
from llmservice.engines.start_report import StartReport
from llmservice.engines.start_times import StartTimes
from llmservice.engines.timed_log import timed_log
from llmservice.errors import InvalidSpec
from llmservice.signals.exposition import scan
from llmservice.signals.samples import reading_from, wanted
from tests.unit.engines.hub_request import a_request, a_version, option
from tests.unit.signals.fake_engine import recorded

ROWS = load_catalogue().engines["sglang"]
VERSIONS = sorted(ROWS.versions)
GIB = 2**30


@pytest.mark.parametrize("version", VERSIONS)
def test_everything_it_renders_is_read_by_the_recorded_parser(version: str) -> None:
    """Spellings and numbers of values, as the release defines them."""
    request = a_request(
        a_version("sglang", version),
        model=ModelSource(scheme="hf", repository="owner/model", revision="v1"),
        devices=2,
        dtype="bfloat16",
        kv_cache_dtype="fp8",
        quantization="online-fp8",
        trust_remote_code=True,
    )
    uses = uses_in(SGLANG.launch(request).args, ROWS.recordings[version].options, SGLANG.capabilities.syntax)
    assert [use.name for use in uses if not use.fits] == []
    assert {"--revision", "--dtype", "--kv-cache-dtype", "--quantization", "--tp-size"} <= {use.name for use in uses}


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (ModelSource(scheme="hf", repository="owner/model"), "owner/model"),
        (ModelSource(scheme="pvc", path="/models/mistral"), "/models/mistral"),
        (ModelSource(scheme="pvc", path="/models/qwen-Q4_K_M.gguf"), "/models/qwen-Q4_K_M.gguf"),
    ],
)
def test_names_the_model(model: ModelSource, named: str) -> None:
    launch = SGLANG.launch(a_request(a_version("sglang"), model=model))
    assert (launch.command[-1], option(launch, "--model-path")) == ("sglang.launch_server", named)


def test_listens_where_it_is_told_to_and_always_measures() -> None:
    launch = SGLANG.launch(a_request(a_version("sglang"), host=LOOPBACK, port=PROXIED_PORT))
    assert (option(launch, "--host"), option(launch, "--port")) == (LOOPBACK, str(PROXIED_PORT))
    assert "--enable-metrics" in launch.args


def test_what_keeps_probes_out_of_the_log_takes_no_other_word() -> None:
    args = SGLANG.launch(a_request(a_version("sglang"))).args
    start = args.index("--uvicorn-access-log-exclude-prefixes")
    assert [word.startswith("-") for word in args[start + 1 : start + 4]] == [False, False, True]


@pytest.mark.parametrize(("devices", "size"), [(0, None), (1, "1"), (8, "8")])
def test_spreads_over_the_devices_of_the_replica(devices: int, size: str | None) -> None:
    assert option(SGLANG.launch(a_request(a_version("sglang"), devices=devices)), "--tp-size") == size


def test_an_unknown_length_is_left_to_the_engine() -> None:
    assert option(SGLANG.launch(a_request(a_version("sglang"), max_model_len=0)), "--context-length") is None


@pytest.mark.parametrize("checkpoint", ["auto", "awq", "gptq", "fp8", "gguf"])
def test_says_nothing_about_a_checkpoint_that_is_quantized(checkpoint: str) -> None:
    assert option(SGLANG.launch(a_request(a_version("sglang"), quantization=checkpoint)), "--quantization") is None


@pytest.mark.parametrize(("asked", "own"), [("online-fp8", "fp8"), ("online-nvfp4", "nvfp4_online")])
def test_calls_a_quantization_on_load_by_its_own_name(asked: str, own: str) -> None:
    assert option(SGLANG.launch(a_request(a_version("sglang"), quantization=asked)), "--quantization") == own


@pytest.mark.parametrize(
    ("asked", "own"), [("", None), ("fp8", "fp8_e4m3"), ("fp8_e5m2", "fp8_e5m2"), ("auto", "auto")]
)
def test_the_kv_cache_in_8_bits_may_be_named_as_with_other_engines(asked: str, own: str | None) -> None:
    assert option(SGLANG.launch(a_request(a_version("sglang"), kv_cache_dtype=asked)), "--kv-cache-dtype") == own


def test_a_kv_cache_dtype_of_another_engine_is_refused_but_for_an_image_of_ones_own() -> None:
    request = a_request(a_version("sglang"), kv_cache_dtype="q8_0")
    with pytest.raises(InvalidSpec, match=r"spec\.kvCacheDtype: .*fp8_e4m3"):
        SGLANG.launch(request)
    launch = SGLANG.launch(dataclasses.replace(request, own_image=True))
    assert option(launch, "--kv-cache-dtype") == "q8_0"


def test_only_the_liveness_probe_asks_for_a_token() -> None:
    launch = SGLANG.launch(a_request(a_version("sglang")))
    assert launch.environment["SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION"] == "0"
    probes = launch.probes
    assert [each.path for each in (probes.startup, probes.readiness, probes.liveness)] == [
        "/health",
        "/health",
        "/health_generate",
    ]
    assert probes.liveness.timeout_seconds > 20, "it answers after up to twenty seconds by itself"


@pytest.mark.parametrize("drain", [0, 300])
def test_the_engine_drains_itself_and_is_given_the_time(drain: int) -> None:
    launch = SGLANG.launch(a_request(a_version("sglang"), drain_seconds=drain))
    assert launch.stop_seconds > drain + 2 * 5, "it looks every five seconds"
    assert (launch.pre_stop_seconds, launch.needs_init) == (5, True)


def test_what_is_compiled_is_kept_where_that_lasts() -> None:
    assert "SGLANG_CACHE_DIR" not in SGLANG.launch(a_request(a_version("sglang"))).environment
    kept = SGLANG.launch(a_request(a_version("sglang"), keeps_compiled=True)).environment
    assert {value.split("/")[1] for name, value in kept.items() if "CACHE_DIR" in name} == {"compiled"}


def test_further_names_are_answered_and_noted() -> None:
    launch = SGLANG.launch(a_request(a_version("sglang"), names=("chat", "other")))
    assert option(launch, "--served-model-name") == "chat"
    assert any("chat" in note for note in launch.notes)


@pytest.mark.parametrize("flag", ["--tp", "--tp-size", "--max-run=4", "--context-l=1", "--api-key", "--dp-size"])
def test_an_owned_option_is_refused_by_its_beginning_too(flag: str) -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.engineOptions\.args\[0\]: "):
        check_arguments(SGLANG, a_version("sglang"), [flag], [])


def test_options_of_its_cache_and_its_schedule_pass() -> None:
    row = a_version("sglang")
    args = ["--schedule-policy=lpm", "--mem-fraction-static=0.8", "--chunked-prefill-size", "4096", "--moe-dp-size=2"]
    check_arguments(SGLANG, row, args, [])
    assert check_recorded(SGLANG, row, ROWS.recordings, EngineOptions(args=tuple(args))) == ()


def reading(page: bytes, version: str = "0.5.23") -> Reading:
    names = SGLANG.metric_names(a_version("sglang", version))
    found = reading_from(scan(page, wanted(names)), names, 1.0)
    assert isinstance(found, Reading)
    return found


def test_its_page_gives_both_laws_what_they_need() -> None:
    found = reading(recorded("sglang"))
    counters = found.counters
    assert (counters.running, counters.waiting, found.kv_use, counters.finished) == (6, 3, 0.42, 25)
    assert (counters.prompt_tokens, counters.generated_tokens, counters.preemptions) == (1500, 2400, 2)
    assert (counters.finished_prompt_tokens, counters.finished_generated_tokens) == (1250, 1000)
    assert counters.ttft is not None
    assert counters.tpot is not None
    assert counters.inter_token_latency is not None
    assert (counters.ttft.above(4.0), counters.tpot.count) == (1, 25)
    assert counters.inter_token_latency.total / counters.inter_token_latency.count == pytest.approx(0.012)


def test_with_priorities_no_request_counts_twice() -> None:
    page = recorded("sglang").decode()
    (line,) = (each for each in page.split("\n") if each.startswith("sglang:num_queue_reqs{"))
    total, high = (line.replace("{", f'{{priority="{name}",') for name in ("", "5"))
    assert reading(page.replace(line, f"{total}\n{high}").encode()).counters.waiting == 3


def test_the_engines_of_a_replica_that_share_the_experts_add_up() -> None:
    page = recorded("sglang").decode()
    (line,) = (each for each in page.split("\n") if each.startswith("sglang:num_running_reqs{"))
    both = [line.replace("{", f'{{dp_rank="{rank}",') for rank in (0, 1)]
    assert reading(page.replace(line, "\n".join(both)).encode()).counters.running == 12


def test_a_replica_that_was_not_asked_yet_is_idle() -> None:
    found = reading(b"")
    assert (found.counters.running, found.counters.waiting, found.kv_use) == (0, 0, 0)


START = """\
[2025-03-27 21:33:20] server_args=ServerArgs(model_path='google/gemma-3-4b-it', device='cuda', tp_size=2, dp_size=1, \
attention_backend='flashinfer')
[2025-03-27 21:33:30 TP0] Load weight end. type=Gemma3ForConditionalGeneration, dtype=torch.bfloat16, \
avail mem=131.08 GB, mem usage=8.13 GB.
[2025-03-27 21:33:31 TP0] KV Cache is allocated. #tokens: 834615, K size: 54.12 GB, V size: 54.12 GB
[2025-03-27 21:33:31 TP0] Memory pool end. avail mem=14.61 GB
"""
"""sgl-project/sglang pull request 4826; the first line cut, in the format of 0.4.4."""

NEWER = """\
[2026-11-01 10:00:00] server_args={'model_path': 'owner/model', 'device': 'cuda', 'tp_size': 1, \
'attention_backend': 'aiter'}
[2026-11-01 10:00:20] Load weight end. elapsed=18.20 s, type=Qwen2ForCausalLM, avail mem=60.00 GB, mem usage=14.30 GB.
[2026-11-01 10:00:21] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 65536, KV size: 3.50 GB
[2026-11-01 10:00:30] Capture prefill CUDA graph end. elapsed=8.40 s, mem usage=0.30 GB, avail mem=5.10 GB.
[2026-11-01 10:00:41] Capture decode CUDA graph end. elapsed=10.90 s, mem usage=0.80 GB, avail mem=4.30 GB.
[2026-11-01 10:00:42] max_total_num_tokens=65536, chunked_prefill_size=8192, max_prefill_tokens=16384, \
max_running_requests=128, context_len=32768, available_gpu_mem=4.30 GB
"""
"""No log of 0.5.23 was found: lines as its source prints them (the files are named in engines/sglang/start_log.py)."""


@pytest.mark.parametrize(
    ("log", "report"),
    [
        (START, StartReport(backend="cuda", device_count=2, kv_bytes=2 * int(54.12 * GIB))),
        (
            NEWER,
            StartReport(
                backend="rocm",
                device_count=1,
                kv_bytes=int(3.5 * GIB),
                kv_tokens=65536,
                full_length_requests=2.0,
                request_tokens=32768,
            ),
        ),
        (
            NEWER.replace("available_gpu_mem", "available_cpu_mem"),
            StartReport(
                backend="cpu", kv_bytes=int(3.5 * GIB), kv_tokens=65536, full_length_requests=2.0, request_tokens=32768
            ),
        ),
    ],
)
def test_a_start_is_read_as_it_was_written(log: str, report: StartReport) -> None:
    assert SGLANG.start_report(log) == report


def test_the_parts_of_a_start_are_timed() -> None:
    written = "".join(f"2026-11-01T10:00:{second:02}Z {line}\n" for second, line in enumerate(NEWER.splitlines()))
    times = SGLANG.start_times(timed_log(written))
    assert times == StartTimes(loaded_at=1793527201.0, compile_seconds=10.9)


def test_the_page_that_is_read_here_is_of_the_default_version() -> None:
    assert (Path(__file__).parents[1] / "signals/expositions" / f"sglang-{ROWS.default}.txt").exists()
