"""What engines write when they exit, and what is told of it."""

import pytest

from llmservice.converging.causes import cause_in
from llmservice.converging.diagnosis import Diagnosis
from llmservice.engines.engine import LogPattern
from llmservice.engines.registry import ENGINES
from llmservice.untrusted.patterns import together
from tests.unit.engines.line import Line
from tests.unit.engines.log_lines import GOOD_STARTS, LINES

NOISE = "(EngineCore_DP0 pid=68) INFO 02-06 16:34:06 [core.py:936] Loading weights took 12.5 seconds\n" * 20
WRITTEN = [(engine, line) for line in LINES for engine in line.engines]


def told(engine: str, text: str, largest_context: int = 0) -> Diagnosis:
    found = cause_in(text, ENGINES[engine].log_patterns, largest_context)
    assert found is not None, text
    return found


def first(engine: str, text: str) -> LogPattern:
    return next(each for each in ENGINES[engine].log_patterns if each.pattern.is_in(text))


@pytest.mark.parametrize(("engine", "line"), WRITTEN, ids=[f"{engine}-{line.text[:40]}" for engine, line in WRITTEN])
def test_a_line_in_a_log_names_its_cause_and_the_way_out(engine: str, line: Line) -> None:
    found = told(engine, f"{NOISE}{line.text}\n{NOISE}")
    assert found.reason == line.reason
    assert line.says in found.message
    assert found.self_healing == first(engine, line.text).self_healing


@pytest.mark.parametrize("engine", ENGINES)
def test_every_cause_is_shown_by_a_line_that_was_written(engine: str) -> None:
    shown = [first(engine, line.text) for line in LINES if engine in line.engines]
    from_others = [
        each.cause
        for each in ENGINES[engine].log_patterns
        if each not in shown and not any(first(other, line.text) == each for other, line in WRITTEN)
    ]
    assert from_others == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pattern_that_is_found_earlier_never_hides_another_engines_line(engine: str) -> None:
    """The lines of the libraries mean the same on every engine that has a pattern for them."""
    reasons = {
        line.text: (first(engine, line.text).reason, line.reason)
        for line in LINES
        if engine in line.engines
        if first(engine, line.text).reason != line.reason
    }
    assert reasons == {}


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            (
                "huggingface_hub.errors.GatedRepoError: 401 Client Error.\n"
                "OSError: You are trying to access a gated repo.\n"
                "ValueError: Invalid repository ID or local directory specified: 'meta-llama/Llama-3.1-8B'."
            ),
            "ModelAccessDenied",
        ),
        (
            (
                "socket.gaierror: [Errno -3] Temporary failure in name resolution\n"
                "huggingface_hub.errors.LocalEntryNotFoundError: An error happened while trying to locate the file\n"
                "OSError: We couldn't connect to 'https://huggingface.co' to load the files\n"
                "ValueError: Could not detect config format for no config file found."
            ),
            "HubUnreachable",
        ),
        (
            (
                "torch._inductor.exc.InductorError: OSError: [Errno 28] No space left on device\n"
                "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
            ),
            "DiskFull",
        ),
        (
            (
                "'(MaxRetryError(\"Max retries exceeded with url: /a/b/x.json\"))' thrown while requesting\n"
                "ValueError: No available memory for the cache blocks."
            ),
            "KVCacheTooSmall",
        ),
        (
            (
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
                "[rank1]:[E ProcessGroupNCCL.cpp:563] [Rank 1] Watchdog caught collective operation timeout: \n"
                "ERROR Worker proc VllmWorker-1 died unexpectedly (exit code: -6), shutting down executor."
            ),
            "OutOfMemory",
        ),
        (
            (
                "UserWarning: NVIDIA GB200 with CUDA capability sm_100 is not compatible with the current "
                "PyTorch installation.\n"
                "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
                "RuntimeError: NCCL error: unhandled cuda error"
            ),
            "GpuNotSupported",
        ),
    ],
)
def test_a_cause_comes_before_its_consequences(log: str, reason: str) -> None:
    assert told("vllm", log).reason == reason


def test_what_an_edit_of_the_resource_cannot_mend_alone_may_heal() -> None:
    healing = {(each.reason, each.self_healing) for engine in ENGINES.values() for each in engine.log_patterns}
    only = {reason for reason, heals in healing if heals} - {reason for reason, heals in healing if not heals}
    assert only == {"GpuBusy", "GpuFaulty", "HubThrottled"}
    assert ("HubUnreachable", True) in healing


def test_forty_causes_have_a_name() -> None:
    causes = {engine: {each.cause for each in ENGINES[engine].log_patterns} for engine in ENGINES}
    assert len(set.union(*causes.values())) >= 40
    assert len(causes["vllm"]) >= 40
    assert len(causes["tgi"]) >= 40
    assert len(causes["llamacpp"]) >= 40


@pytest.mark.parametrize(("engine", "log"), GOOD_STARTS.items())
def test_lines_of_a_good_start_mean_nothing(engine: str, log: str) -> None:
    assert [each.cause for each in ENGINES[engine].log_patterns if each.pattern.is_in(log)] == []


@pytest.mark.parametrize("engine", ENGINES)
def test_one_pass_finds_what_each_pattern_finds(engine: str) -> None:
    patterns = [each.pattern for each in ENGINES[engine].log_patterns]
    texts = [NOISE + line.text for line in LINES] + ["\n".join(line.text for line in LINES), "", NOISE]
    each_alone = [tuple(at for at, pattern in enumerate(patterns) if pattern.is_in(text)) for text in texts]
    assert [together(patterns).which(text) for text in texts] == each_alone


@pytest.mark.parametrize(
    ("engine", "line", "own", "says"),
    [
        ("vllm", "To serve at least one request with the model's max seq len (8192)", 4096, "4096"),
        ("vllm", "To serve at least one request with the model's max seq len. maximum model length is 7", 0, "fp8"),
        ("tgi", "Not enough memory to handle 4096 prefill tokens.", 2304, "2304"),
        ("llamacpp", "failed to allocate buffer for kv cache", 1536, "1536"),
    ],
)
def test_where_the_engine_has_no_number_our_own_is_told(engine: str, line: str, own: int, says: str) -> None:
    assert says in told(engine, line, own).message


def test_the_engines_number_comes_before_our_own() -> None:
    line = "max seq len (9) is larger than the maximum number of tokens that can be stored in KV cache (3664)"
    message = told("vllm", line, 4096).message
    assert "3664 or less" in message
    assert "4096" not in message


@pytest.mark.parametrize("number", ["0", "9" * 30])
def test_a_number_that_cannot_be_is_not_told(number: str) -> None:
    line = f"is larger than the maximum number of tokens that can be stored in KV cache ({number})"
    assert f"to {number}" not in told("vllm", line).message
