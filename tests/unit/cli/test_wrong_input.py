"""What people give by mistake: every verb that reads files refuses it with its place, its rule and a way out."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from llmservice.cli import images, plan, render, validate

HEAD = "apiVersion: llmservice.dev/v1alpha1\nkind: LLMService\nmetadata: {name: chat}\n"
SPEC = "spec:\n  engine: llamacpp\n  model: {uri: pvc://models/tiny.gguf}\n  gpu: {count: 0}\n"
GOOD = HEAD + SPEC

WRONG = {
    "nothing": ("", 1, "NoLLMService", "kind: LLMService"),
    "only a comment": ("# later\n", 1, "NoLLMService", "kind: LLMService"),
    "a word": ("hello\n", 1, "NoLLMService", "kind: LLMService"),
    "an empty list": ("apiVersion: v1\nkind: List\nitems: []\n", 1, "NoLLMService", "kind: LLMService"),
    "a misspelled kind": (GOOD.replace("LLMService", "LlmService", 1), 2, "InvalidSpec", "must be LLMService"),
    "a key that is repeated": (GOOD + "  engine: vllm\n", 8, "RepeatedKey", "line 5"),
    "a key that is repeated further down": (
        GOOD.replace("{count: 0}", "{count: 0, count: 1}"),
        7,
        "RepeatedKey",
        "line 7 too",
    ),
    "a name that is repeated": (f"{GOOD}---\n{GOOD}", 9, "RepeatedName", "stdin>:1 too"),
    "a tab": (HEAD + "spec:\n\tengine: llamacpp\n", 5, "NotYaml", "spaces"),
    "8k": (GOOD + "  maxModelLen: 8k\n", 8, "InvalidSpec", "8192"),
    "16Ki": (GOOD + "  maxModelLen: 16Ki\n", 8, "InvalidSpec", "16384"),
    "1M": (GOOD + "  maxModelLen: 1M\n", 8, "InvalidSpec", "1048576"),
    "a GGUF name elsewhere": (
        HEAD + "spec: {engine: vllm, model: {uri: a/b}, quantization: Q4_K_M, gpu: {type: L4}}\n",
        4,
        "UnsupportedField",
        "llamacpp",
    ),
}


@pytest.mark.parametrize("verb", [render, validate, plan], ids=["render", "validate", "plan"])
@pytest.mark.parametrize(("text", "line", "rule", "way_out"), WRONG.values(), ids=WRONG)
def test_it_is_refused_with_its_place_and_a_way_out(
    verb: object, text: str, line: int, rule: str, way_out: str
) -> None:
    result = CliRunner().invoke(verb.command, ["-"], input=text)  # type: ignore[attr-defined]
    (told,) = [each for each in result.output.splitlines() if way_out in each and "skipped" not in each]
    assert result.exit_code == 1
    assert f":{line}" in told or f"line {line}" in told or verb is plan
    assert rule in told or verb is not validate


def test_what_planning_finds_is_told_beside_what_the_fields_have(tmp_path: Path) -> None:
    spec = "spec: {engine: vlm, model: {uri: a/b}, gpu: {type: L5}, maxModelLen: 8k, replica: 2}\n"
    (tmp_path / "wrong.yaml").write_text(HEAD + spec)
    told = CliRunner().invoke(validate.command, [str(tmp_path / "wrong.yaml")]).stdout.splitlines()
    fields = {"spec.engine", "spec.gpu.type", "spec.maxModelLen", "spec.replica"}
    assert {next(field for field in fields if f"{field}:" in line) for line in told} == fields
    assert len(told) == len(fields)


def test_what_depends_on_a_field_that_was_left_out_is_not_told() -> None:
    spec = "spec: {engine: vllm, model: {uri: meta-llama/Llama-3.1-70B-Instruct}, gpu: {type: L4, count: eight}}\n"
    told = CliRunner().invoke(validate.command, ["-"], input=HEAD + spec).stdout.splitlines()
    assert ["spec.gpu.count" in line for line in told] == [True]


def test_a_name_in_two_files_is_told_in_the_second(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("a.yaml", "b.yaml")]
    for file in files:
        Path(file).write_text(GOOD)
    told = [line for line in CliRunner().invoke(validate.command, files).stdout.splitlines() if "error" in line]
    assert [(line.startswith(files[1]), f"{files[0]}:1" in line) for line in told] == [(True, True)]


def test_a_file_without_one_is_fine_beside_a_file_with_one(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: ConfigMap\n")
    (tmp_path / "b.yaml").write_text(GOOD)
    result = CliRunner().invoke(validate.command, [str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")])
    assert result.exit_code == 0


def test_a_document_that_repeats_keys_by_aliases_is_read_in_linear_time() -> None:
    levels = "".join(f"k{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 15))
    result = CliRunner().invoke(validate.command, ["-"], input=f"{GOOD}---\nkind: ConfigMap\nk0: &a0 [x, x]\n{levels}")
    assert result.exit_code == 0


@pytest.mark.parametrize(("verb", "code"), [(render, 1), (plan, 1), (validate, 0)])
def test_other_kinds_alone_are_fine_for_a_hook_and_for_nothing_else(verb: object, code: int) -> None:
    result = CliRunner().invoke(verb.command, ["-"], input="kind: ConfigMap\n")  # type: ignore[attr-defined]
    assert result.exit_code == code


def test_a_variant_that_no_image_has_is_wrong_usage() -> None:
    result = CliRunner().invoke(images.command, ["--variant", "cudaa"])
    assert (result.exit_code, "cuda" in result.stderr) == (2, True)


def test_an_unknown_type_and_version_hide_no_misspelled_argument_or_quantization() -> None:
    options = 'engineOptions: {version: "9.9", args: ["--model=x", "--enable-prefix-cachin"]}'
    spec = f"spec: {{engine: vllm, model: {{uri: a/b}}, gpu: {{type: L5}}, quantization: awqq, {options}}}\n"
    told = CliRunner().invoke(validate.command, ["-"], input=HEAD + spec).stdout.splitlines()
    fields = ("spec.gpu.type", "spec.engineOptions.version", "spec.engineOptions.args", "spec.quantization")
    assert [any(f"error: {field}" in line for line in told) for field in fields] == [True] * len(fields)
