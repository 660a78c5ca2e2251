"""What engines say at their start, on logs of real starts (start_logs/README.md names their sources)."""

from pathlib import Path

import pytest

from llmservice.engines.registry import ENGINES
from llmservice.engines.start_report import StartReport, decimal, device_name, size_in, whole

LOGS = Path(__file__).parent / "start_logs"
MIB, GIB = 2**20, 2**30

RTX_5090 = "CUDA0 (NVIDIA GeForce RTX 5090)"
RTX_4070 = "CUDA0 (NVIDIA GeForce RTX 4070 SUPER)"


def report_of(log: str) -> StartReport:
    return ENGINES[log.partition("-")[0]].start_report((LOGS / f"{log}.txt").read_text("utf-8"))


@pytest.mark.parametrize(
    ("log", "report"),
    [
        (
            "llamacpp-2026-05-cuda",
            StartReport(
                backend="cuda",
                devices=(RTX_5090,),
                device_count=1,
                offloaded_layers=66,
                layers=66,
                kv_bytes=4624 * MIB,
                kv_tokens=131_072,
                full_length_requests=1.0,
                request_tokens=131_072,
            ),
        ),
        ("llamacpp-2025-07-cuda", StartReport(backend="cuda", devices=(RTX_4070,), device_count=1)),
        (
            "llamacpp-b11312-cpu-verbosity-4",
            StartReport(backend="cpu", kv_bytes=MIB, kv_tokens=4096, full_length_requests=4.0, request_tokens=1024),
        ),
        (
            "llamacpp-b11312-cpu-verbosity-3",
            StartReport(backend="cpu", full_length_requests=4.0, request_tokens=1024),
        ),
        (
            "llamacpp-b10549-idle",
            StartReport(
                backend="cpu",
                offloaded_layers=0,
                layers=37,
                kv_bytes=576 * MIB,
                kv_tokens=4096,
                full_length_requests=1.0,
                request_tokens=4096,
            ),
        ),
        (
            "vllm-0.24.0-cuda",
            StartReport(
                backend="cuda",
                device_count=1,
                kv_bytes=int(5.98 * GIB),
                kv_tokens=567_978,
                full_length_requests=4.33,
                request_tokens=131_072,
            ),
        ),
        (
            "vllm-0.31.0-cuda",
            StartReport(kv_bytes=int(34.79 * GIB), kv_tokens=651_504, full_length_requests=159.06, request_tokens=4096),
        ),
        ("vllm-0.30.0-cpu", StartReport(backend="cpu")),
        ("vllm-0.7-cuda", StartReport(backend="cuda", full_length_requests=10.79, request_tokens=2048)),
        (
            "vllm-tp4-cuda",
            StartReport(
                backend="cuda",
                device_count=4,
                kv_bytes=int(5.35 * GIB),
                kv_tokens=215_401,
                full_length_requests=26.29,
                request_tokens=8192,
            ),
        ),
        (
            "tgi-3.3.5-cuda",
            StartReport(
                backend="gpu", device_count=2, kv_tokens=131_072, full_length_requests=16.0, request_tokens=8192
            ),
        ),
        ("tgi-3.3.5-no-device", StartReport(backend="cpu")),
    ],
)
def test_a_start_is_read_as_its_engine_wrote_it(log: str, report: StartReport) -> None:
    assert report_of(log) == report


def test_every_log_is_read_by_a_test() -> None:
    tested = {mark.args[1][index][0] for mark in _marks() for index in range(len(mark.args[1]))}
    assert {path.stem for path in LOGS.glob("*.txt")} == tested


def _marks() -> list[pytest.Mark]:
    marks: list[pytest.Mark] = test_a_start_is_read_as_its_engine_wrote_it.pytestmark  # type: ignore[attr-defined]
    return marks


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["", "\n", "no line of an engine\n" * 100, "device_config=", "\0\ud800"])
def test_nothing_is_made_of_what_no_engine_says(engine: str, text: str) -> None:
    report = ENGINES[engine].start_report(text)
    assert (report, report.in_use) == (StartReport(), None)


@pytest.mark.parametrize(
    ("line", "offloaded", "partial", "in_use"),
    [("20/33", 20, True, True), ("33/33", 33, False, True), ("0/33", 0, False, False)],
)
def test_how_many_layers_are_on_devices(line: str, offloaded: int, partial: bool, in_use: bool) -> None:
    report = ENGINES["llamacpp"].start_report(f"load_tensors: offloaded {line} layers to GPU\n")
    assert (report.offloaded_layers, report.is_partial, report.in_use) == (offloaded, partial, in_use)


def test_of_two_loads_the_last_counts() -> None:
    text = "load_tensors: offloaded 0/37 layers to GPU\nload_tensors: offloaded 37/37 layers to GPU\n"
    assert ENGINES["llamacpp"].start_report(text).offloaded_layers == 37


def test_the_cache_on_each_of_several_devices_is_their_mean() -> None:
    text = "".join(
        f"llama_kv_cache:      {name} KV buffer size =  {size} MiB\n"
        for name, size in (("CUDA0", "100.00"), ("CUDA1", "50.00"), ("CPU", "900.00"))
    )
    assert ENGINES["llamacpp"].start_report(text).kv_bytes == 75 * MIB


@pytest.mark.parametrize(
    ("device", "backend"), [("ROCm0", "rocm"), ("SYCL1", "xpu"), ("Vulkan0", "vulkan"), ("CANN0", "cann")]
)
def test_the_backend_is_told_by_the_devices_name(device: str, backend: str) -> None:
    text = f"llama_prepare_model_devices: using device {device} (Any) (0000:01:00.0) - 9 MiB free\n"
    assert ENGINES["llamacpp"].start_report(text).backend == backend


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("SYCL0 (Intel(R) Arc(TM) B580 Graphics) (unknown id)", "SYCL0 (Intel(R) Arc(TM) B580 Graphics)"),
        (
            "Vulkan0 (AMD Radeon RX 7900 XTX (RADV NAVI31)) (0000:03:00.0)",
            "Vulkan0 (AMD Radeon RX 7900 XTX (RADV NAVI31))",
        ),
    ],
)
def test_names_of_devices_may_have_parentheses(line: str, name: str) -> None:
    text = f"llama_prepare_model_devices: using device {line} - 12216 MiB free\n"
    assert ENGINES["llamacpp"].start_report(text).devices == (name,)


def test_rocm_is_told_from_cuda_by_its_attention_backend() -> None:
    text = "config: device_config=cuda, seed=0\nUsing AttentionBackendEnum.ROCM_AITER_FA backend.\n"
    assert ENGINES["vllm"].start_report(text).backend == "rocm"


def test_intels_image_of_tgi_says_nothing_of_its_devices() -> None:
    text = "Cannot determine GPU compute capability: AssertionError: Torch not compiled with CUDA enabled\n"
    assert ENGINES["tgi"].start_report(text + "Using attention paged - Prefix caching 0\n").in_use is None


@pytest.mark.parametrize(
    ("text", "number"),
    [("1,024", 1024), ("7", 7), ("", None), ("-1", None), ("1.5", None), ("9" * 16, None), ("9" * 5000, None)],
)
def test_a_number_is_none_where_it_can_be_no_size(text: str, number: int | None) -> None:
    assert whole(text) == number


@pytest.mark.parametrize(
    ("text", "number"), [("5.98", 5.98), ("1,024.5", 1024.5), ("3", 3.0), ("1.2.3", None), ("..", None), ("nan", None)]
)
def test_a_decimal_is_none_where_it_is_no_number(text: str, number: float | None) -> None:
    assert decimal(text) == number


def test_a_size_is_none_where_it_is_too_large() -> None:
    assert (size_in("1.5", GIB), size_in("99999999999", GIB)) == (3 * GIB // 2, None)


def test_the_name_of_a_device_is_cut_and_can_be_shown() -> None:
    assert device_name("CUDA0 (\x1b[31mL4\x07)") == "CUDA0 (L4\\x07)"
    assert len(device_name("\x07" * 500)) == 80


def test_a_replica_of_several_copies_has_what_all_of_them_have() -> None:
    said = StartReport(backend="cuda", device_count=2, kv_bytes=GIB, kv_tokens=1000, full_length_requests=1.5)
    assert said.of_copies(1) == said
    of_all = StartReport(backend="cuda", device_count=8, kv_bytes=GIB, kv_tokens=4000, full_length_requests=6.0)
    assert said.of_copies(4) == of_all
    assert StartReport().of_copies(4) == StartReport()
