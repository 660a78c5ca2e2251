"""`llmservice fit`: table, JSON, exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from llmservice.cli.fit import command
from llmservice.models.inspection_answer import answer_of, facts_in
from llmservice.models.model_facts import ModelFacts


def fit(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def as_json(*arguments: str) -> Any:
    return json.loads(fit(*arguments, "-o", "json").stdout)


LLAMA = "--model=meta-llama/Llama-3.1-8B-Instruct"


def test_shows_every_type_with_the_fewest_that_hold_the_model() -> None:
    result = fit("--model", "meta-llama/Llama-3.3-70B-Instruct")
    lines = {line.split()[0]: line.split() for line in result.stdout.splitlines() if line}
    assert result.exit_code == 0
    assert lines["GPU"][:4] == ["GPU", "COUNT", "QUANTIZATION", "VERDICT"]
    assert lines["H100"][1:4] == ["2", "auto", "fits"]
    assert lines["H200"][1:4] == ["2", "auto", "fits"]
    assert lines["B200"][1:4] == ["1", "auto", "fits"]
    assert lines["T4"][1:6] == ["8", "auto", "does", "not", "fit"]
    assert "H100-SXM" not in lines


def test_shows_each_number_and_quantization_of_the_types_that_are_named_and_says_why() -> None:
    result = fit(LLAMA, "--gpu=L4", "--max-model-len=131072", "--max-num-seqs=256")
    assert result.exit_code == 0
    rows = [line.split()[:4] for line in result.stdout.splitlines() if line.startswith("L4")]
    assert [row[1:3] for row in rows] == [
        ["1", "auto"],
        ["2", "auto"],
        ["1", "online-fp8"],
        ["2", "online-fp8"],
        ["1", "awq"],
        ["2", "awq"],
    ]
    assert (
        "1 x L4, auto: 131072 tokens need 16.0 GiB of KV cache; 3.5 GiB are left on an L4: "
        "maxModelLen 28000, kvCacheDtype fp8 (57000), or gpu.count 2\n"
    ) in result.stdout


def test_says_when_more_is_asked_for_than_the_model_was_made_for() -> None:
    said = "The model was made for 40960 tokens: engines refuse more"
    assert said in fit("--model=Qwen/Qwen3-8B", "--gpu=H100", "--max-model-len=65536").stdout
    assert said not in fit("--model=Qwen/Qwen3-8B", "--gpu=H100", "--max-model-len=40960").stdout


def test_ends_with_1_where_it_fits_nowhere() -> None:
    result = fit("--model=meta-llama/Llama-3.1-405B-Instruct", "--gpu=T4,L4")
    assert result.exit_code == 1
    assert "fits" not in result.stdout


def test_json_has_the_arithmetic() -> None:
    answer = as_json(LLAMA, "--gpu=L4", "--count=1", "--quantization=auto", "--max-num-seqs=256")
    (option,) = answer["options"]
    assert (answer["engine"], answer["maxModelLen"], answer["facts"]["layers"]) == ("vllm", 8192, 32)
    assert (option["gpu"], option["count"], option["quantization"], option["verdict"]) == ("L4", 1, "auto", "Fits")
    assert option["kvCacheBytesPerRequest"] == 2**30
    assert option["kvCacheBytes"]["careful"] < option["kvCacheBytes"]["optimistic"]
    assert option["fullLengthRequests"] == pytest.approx(3.5, abs=0.01)
    assert 28_000 < option["largestMaxModelLen"] < option["largestMaxModelLenWith8BitKv"]
    assert option["remedies"] == []


def test_the_numbers_are_those_the_operator_would_choose() -> None:
    assert as_json("--model=TinyLlama/TinyLlama-1.1B-Chat-v1.0", "--gpu=T4")["maxModelLen"] == 2048
    llamacpp = as_json(LLAMA, "--gpu=L4", "--engine=llamacpp")
    assert (llamacpp["maxNumSeqs"], llamacpp["options"][0]["quantization"]) == (4, "Q4_K_M")
    assert as_json(LLAMA, "--gpu=L4", "--engine=tgi")["utilization"] == 0.95


def test_a_quantized_checkpoint_is_shown_as_it_is() -> None:
    answer = as_json("--model=Qwen/Qwen3-8B-AWQ", "--gpu=T4")
    assert {option["quantization"] for option in answer["options"]} == {"auto"}


def test_numbers_of_a_model_that_nobody_knows(tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    file.write_text(json.dumps({"file_bytes": 16 * 2**30, "dtype": "bfloat16"}))
    answer = as_json("--model=our/own", "--facts", str(file), "--gpu=T4,L4", "--quantization=auto", "--count=1")
    assert [option["verdict"] for option in answer["options"]] == ["DoesNotFit", "Unknown"]
    assert fit("--facts", str(file), "--gpu=L4", "--count=1", "--quantization=auto").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--gpu=L4"], "--model: name the model, or give its numbers with --facts FILE"),
        (["--model=qwen/qwen3-8"], "is not in the model catalogue (similar: Qwen/Qwen3-8B, Qwen/Qwen3-4B, "),
        (["--model=qwen/qwen3-8"], "`llmservice inspect qwen/qwen3-8 -o json` writes"),
        ([LLAMA, "--gpu=A100"], "--gpu: A100 exists with different amounts of memory; use one of: A100-40GB"),
        ([LLAMA, "--gpu=L5"], "--gpu: L5 is not in the accelerator catalogue (similar: "),
        ([LLAMA, "--quantization=awk"], "--quantization: awk is not a quantization of vllm 0.33.0; use one of: awq"),
        ([LLAMA, "--kv-cache-dtype=turbo3"], "--kv-cache-dtype: turbo3 is not a type of KV cache"),
        ([LLAMA, "--engine=other"], "Invalid value for '--engine'"),
    ],
)
def test_wrong_usage_ends_with_2_and_names_the_way_out(arguments: list[str], said: str) -> None:
    result = fit(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "--facts"),
        ("[]", "must be a mapping"),
        ('{"layers": 1.5}', "layers: "),
        ('{"layers": NaN}', "--facts"),
        ('{"head_count": 5}', "unknown field head_count"),
        ('{"layers": -5}', "layers is -5, which no model has; correct it"),
        ('{"architecture": "' + "x" * 70_000 + '"}', "has more than 65536 bytes"),
        ("[" * 5000, "--facts"),
    ],
)
def test_facts_that_are_none_are_wrong_usage(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "facts.json"
    file.write_text(content)
    result = fit("--facts", str(file))
    assert result.exit_code == 2
    assert said in result.stderr


def test_the_clusters_own_rows_are_known_too(tmp_path: Path) -> None:
    file = tmp_path / "overlay.yaml"
    file.write_text(
        """
kind: ConfigMap
data:
  models.yaml: |
    models: [{id: our/own, like: Qwen/Qwen3-8B}]
  accelerators.yaml: |
    accelerators: [{name: L5, vendor: nvidia, memory_gib: 31.3}]
"""
    )
    answer = as_json("--model=our/own", "--gpu=L5", "--catalogue", str(file), "--quantization=auto")
    assert [(option["gpu"], option["verdict"]) for option in answer["options"]] == [("L5", "Fits")]


def test_a_uri_names_the_model_too() -> None:
    assert fit("--model=hf://Qwen/Qwen3-8B@main", "--gpu=L4").exit_code == 0


@pytest.mark.parametrize("document", ["answer", "facts"])
def test_what_inspect_writes_is_what_fit_reads(tmp_path: Path, document: str) -> None:
    known = as_json(LLAMA, "--gpu=L4")["facts"]
    facts = facts_in(json.dumps({"facts": known}))
    assert isinstance(facts, ModelFacts)
    answer = answer_of("hf://own/model", "main", facts)
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(answer if document == "answer" else answer["facts"]))
    assert as_json(f"--facts={file}", "--gpu=L4")["facts"] == known


def test_llamacpp_takes_any_name_that_files_of_a_repository_can_have() -> None:
    arguments = (LLAMA, "--engine=llamacpp", "--gpu=L4", "--count=1")
    option = as_json(*arguments, "--quantization=UD-IQ4_XS")["options"][0]
    assert (option["quantization"], option["verdict"]) == ("UD-IQ4_XS", "Fits")
    assert fit(*arguments, "--quantization=fp8").exit_code == 2
    assert fit(LLAMA, "--gpu=L4", "--quantization=UD-IQ4_XS").exit_code == 2
