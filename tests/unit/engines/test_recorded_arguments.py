"""Arguments and variables against what was recorded: refused where the engine would not start, and by which name."""

import re
from typing import Any

import pytest

from llmservice.api.v1alpha1.engine_options import EngineOptions
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.recorded_arguments import check_recorded
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec

VLLM, LLAMACPP, TGI = "vllm", "llamacpp", "tgi"


def notes_on(engine: str, *args: str, version: str = "", **more: Any) -> tuple[str, ...]:
    rows = load_catalogue().engines[engine]
    env = [{"name": name, "value": "1"} for name in more.pop("env", ())]
    options = EngineOptions.model_validate({"args": args, "env": env, "version": version or None, **more})
    return check_recorded(ENGINES[engine], rows.versions[version or rows.default], rows.recordings, options)


def refusal(engine: str, *args: str, version: str = "", **more: Any) -> InvalidSpec:
    with pytest.raises(InvalidSpec) as caught:
        notes_on(engine, *args, version=version, **more)
    return caught.value


def fields(error: InvalidSpec) -> list[str]:
    return [line.partition(": ")[0].removeprefix("spec.engineOptions.") for line in str(error).splitlines()]


@pytest.mark.parametrize(
    ("engine", "args", "field", "named"),
    [
        (VLLM, ["--num-scheduler-steps=8"], "args[0]", "--num-scheduler-steps"),
        (VLLM, ["--enable-prefix-cachin"], "args[0]", "--enable-prefix-caching"),
        (VLLM, ["--Seed", "1"], "args[0]", "--seed"),
        (VLLM, ["--max-logprobs"], "args[0]", "--max-logprobs"),
        (VLLM, ["--max-logprobs", "--enforce-eager"], "args[0]", "--max-logprobs"),
        (VLLM, ["--enforce-eager", "true"], "args[1]", "--enforce-eager"),
        (VLLM, ["--enforce-eager=true"], "args[0]", "--enforce-eager"),
        (VLLM, ["--seed", "1", "2"], "args[2]", "--seed"),
        (VLLM, ["--max-modellen=5"], "args[0]", "spec.maxModelLen"),
        (VLLM, ["--seed 1"], "args[0]", "--seed"),
        (VLLM, ["--logprobs-mode.x", "--seed=1"], "args[0]", "--logprobs-mode.x"),
        (VLLM, ["stray"], "args[0]", ""),
        (LLAMACPP, ["-fa"], "args[0]", "-fa"),
        (LLAMACPP, ["-fa", "-b", "512"], "args[0]", "-fa"),
        (LLAMACPP, ["--no-such", "1"], "args[0]", "--no-such"),
        (LLAMACPP, ["--flash_atn", "on"], "args[0]", "--flash-attn"),
        (LLAMACPP, ["--control-vector-layer-range", "1"], "args[0]", "--control-vector-layer-range"),
        (LLAMACPP, ["--mlock"], "args[0]", "--load-mode"),
        (TGI, ["--cuda-memory-fracton=0.9"], "args[0]", "--cuda-memory-fraction"),
        (TGI, ["--json-output", "true"], "args[1]", "--json-output"),
        (TGI, ["--json_output"], "args[0]", "--json-output"),
    ],
)
def test_what_the_parser_would_not_take_is_refused(engine: str, args: list[str], field: str, named: str) -> None:
    error = refusal(engine, *args)
    assert error.reason == "EngineArgumentRejected"
    assert fields(error) == [field]
    assert named in str(error)


@pytest.mark.parametrize(
    ("engine", "args"),
    [
        (VLLM, ["--enable-prefix-caching", "--no-enable-prefix-caching", "--disable-prefix-caching"]),
        (VLLM, ["--max_num_batched_tokens=8k", "--max-num-batched", "8192"]),
        (
            VLLM,
            ["--compilation-config.level", "3", "-cc.level=3", "-O3", "-O", "2", "--compilation-config", '{"a": 1}'],
        ),
        (VLLM, ["--limit-mm-per-prompt.image=2", "--hf-overrides", '{"a": {"b": [1, 2]}}']),
        (VLLM, ["--lora-target-modules", "q_proj", "v_proj", "--max-logprobs", "-1"]),
        (VLLM, ["--chat-template", "- {{ x }}", "--seed=$(SEED)"]),
        (VLLM, ["--override-generation-config", '{"temperature": 0}', "--reasoning-parser", "qwen3"]),
        (LLAMACPP, ["-fa", "on", "-b", "512", "--jinja", "--reverse-prompt", "-x", "--temp", "-1"]),
        (LLAMACPP, ["--flash_attn", "on", "--override-kv", "a=int:1", "--chat-template-kwargs", '{"a": false}']),
        (TGI, ["--cuda-graphs=1,2", "--env", "--max-batch-prefill-tokens", "4096", "--waiting-served-ratio", "0.3"]),
    ],
)
def test_what_the_parser_takes_passes_without_a_note(engine: str, args: list[str]) -> None:
    assert notes_on(engine, *args) == ()


def test_a_version_that_has_an_option_is_named() -> None:
    error = refusal(VLLM, "--watermark_config=1", version="0.24.0")
    assert re.search(r"spec\.engineOptions\.version: 0\.33\.0", str(error)) is not None


def test_an_ambiguous_beginning_is_refused_with_what_it_may_mean() -> None:
    assert {"--max-log-len", "--max-logprobs"} <= set(re.findall(r"--[-\w]+", str(refusal(VLLM, "--max-lo", "1"))))


@pytest.mark.parametrize(
    ("version", "name", "named"),
    [
        ("0.33.0", "VLLM_ATTENTION_BACKEND", "--attention-backend"),
        ("0.33.0", "VLLM_USE_V1", "VLLM_USE_V1"),
        ("0.33.0", "VLLM_V0_USE_OUTLINES_CACHE", "VLLM_V1_USE_OUTLINES_CACHE"),
        ("0.10.2", "VLLM_ENGINE_READY_TIMEOUT_S", "0.10.2"),
    ],
)
def test_a_variable_that_another_version_reads_is_refused(version: str, name: str, named: str) -> None:
    error = refusal(VLLM, version=version, env=("OMP_NUM_THREADS", name))
    assert error.reason == "EngineArgumentRejected"
    assert fields(error) == ["env[1]"]
    assert named in str(error)


def test_variables_that_are_read_pass_and_so_do_those_of_others() -> None:
    assert notes_on(VLLM, env=("VLLM_LOGGING_LEVEL", "NCCL_DEBUG", "CUDA_HOME", "PATH"), version="0.33.0") == ()
    assert notes_on(LLAMACPP, env=("LLAMA_ARG_NO_PERF", "LLAMA_ARG_THREADS", "LLAMA_LOG_COLORS")) == ()
    assert notes_on(TGI, env=("DISABLE_EXLLAMA", "PREFIX_CACHING", "CUDA_GRAPHS")) == ()


def test_a_variable_that_no_version_reads_is_noted_with_similar_ones() -> None:
    (note,) = notes_on(VLLM, env=("VLLM_LOGING_LEVEL",))
    assert "VLLM_LOGGING_LEVEL" in note


def test_all_problems_are_listed_with_what_is_owned() -> None:
    error = refusal(VLLM, "--quantization", "fp8", "--no-such", "--seed", env=("VLLM_ATTENTION_BACKEND", "HF_TOKEN"))
    assert error.reason == "OwnedArgument"
    assert fields(error) == ["args[0]", "args[2]", "args[3]", "env[0]", "env[1]"]


def test_what_is_owned_alone_is_left_to_the_check_of_every_plan() -> None:
    assert notes_on(VLLM, "--quantization", "fp8", "-tp", "2", "--served-model-name", "a", "b") == ()
    assert notes_on(LLAMACPP, "-ngl", "20", "--threads=8") == ()


def test_for_an_image_of_ones_own_every_problem_is_a_note() -> None:
    notes = notes_on(LLAMACPP, "--mlock", "-fa", image="registry.example/own:1", version="b11312")
    assert [note.partition(": ")[0].removeprefix("spec.engineOptions.") for note in notes] == ["args[0]", "args[1]"]


def test_notes_are_few() -> None:
    notes = notes_on(VLLM, *(["--no-such"] * 128), image="registry.example/own:1", version="0.33.0")
    assert len(notes) == 9
    assert "120" in notes[-1]


def test_a_version_without_a_recording_refuses_only_what_its_row_says_is_removed() -> None:
    rows = load_catalogue().engines[VLLM]
    version = rows.versions["0.33.0"]
    options = EngineOptions(args=("--no-such", "--seed"))
    assert check_recorded(ENGINES[VLLM], version, {"0.24.0": rows.recordings["0.24.0"]}, options) == ()
    with pytest.raises(InvalidSpec, match="--kv-offloading-size"):
        check_recorded(ENGINES[VLLM], version, {}, EngineOptions(args=("--swap-space=4",)))


def test_no_value_is_repeated() -> None:
    error = refusal(VLLM, "hf_secret", "--enforce-eager=hf_secret", "--no-such=hf_secret", "--seed", "1", "hf_secret")
    assert len(fields(error)) == 4
    assert "hf_secret" not in str(error)


def test_what_a_message_repeats_of_a_name_is_printable() -> None:
    (note,) = notes_on(VLLM, "--zz\u202eb", image="registry.example/own:1", version="0.33.0")
    assert note.isprintable()


def test_what_a_message_repeats_of_a_long_word_is_cut() -> None:
    assert len(str(refusal(VLLM, "--" + "x" * 8000, "--enforce-eager", "y" * 8000))) < 700
