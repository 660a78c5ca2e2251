"""`llmservice render`: manifests out, one line for each problem, exit codes."""

import dataclasses
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from llmservice.cli.answers import answer_text
from llmservice.cli.comments import comments
from llmservice.cli.planner_options import planner_from
from llmservice.cli.render import command
from llmservice.engines.engine import Default
from tests.builders import an_llmservice

GOOD = yaml.safe_dump(an_llmservice())
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
BAD = yaml.safe_dump(an_llmservice(spec__engine="llamacp", metadata__name="bad"))
WORSE = yaml.safe_dump(an_llmservice(spec__gpu__count=-1, spec__replicas=-1))


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command, arguments, input=stdin)


def test_prints_every_child_as_a_document(tmp_path: Path) -> None:
    file = tmp_path / "chat.yaml"
    file.write_text(GOOD)
    result = run(str(file))
    assert result.exit_code == 0
    assert [manifest["kind"] for manifest in yaml.safe_load_all(result.stdout)] == ["Service", "Deployment"]


def test_reads_standard_input_and_prints_a_list_as_json() -> None:
    result = run("-", "-o", "json", stdin=GOOD)
    assert [item["kind"] for item in json.loads(result.stdout)["items"]] == ["Service", "Deployment"]


def test_reads_lists_as_kubectl_prints_them() -> None:
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": [an_llmservice(), an_llmservice()]})
    assert run("-", stdin=listed).stdout.count("kind: Deployment") == 2


def test_skips_other_kinds_with_a_note() -> None:
    text = f"{CONFIG_MAP}---\n{GOOD}---\n- 1\n---\n"
    result = run("-", stdin=text)
    assert result.exit_code == 0
    first, second = result.stderr.splitlines()
    assert first.startswith("<stdin>:1: ")
    assert "ConfigMap" in first
    assert second.startswith(f"<stdin>:{text.splitlines().index('- 1') + 1}: ")


def test_names_file_line_field_and_remedy() -> None:
    text = f"{CONFIG_MAP}---\n{BAD}"
    result = run("-", stdin=text)
    assert result.exit_code == 1
    line = result.stderr.splitlines()[-1]
    assert line.startswith(f"<stdin>:{text.splitlines().index('  engine: llamacp') + 1}: spec.engine: llamacp ")
    assert "llamacpp" in line


def test_every_problem_has_a_line() -> None:
    lines = run("-", stdin=WORSE).stderr.splitlines()
    assert sorted(line.split(": ")[1] for line in lines) == ["spec.gpu.count", "spec.replicas"]


def test_prints_nothing_when_anything_is_wrong() -> None:
    result = run("-", stdin=f"{GOOD}---\n{BAD}")
    assert (result.exit_code, result.stdout) == (1, "")


@pytest.mark.parametrize("text", ["a: [", "a: b: c", "\t- x", "a: !!int x"])
def test_a_file_that_is_not_yaml_has_one_line(text: str) -> None:
    result = run("-", stdin=text)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert "is not YAML" in result.stderr


def test_a_file_that_is_not_utf_8_has_one_line(tmp_path: Path) -> None:
    (tmp_path / "chat.yaml").write_bytes(GOOD.encode("utf-16"))
    result = run(str(tmp_path / "chat.yaml"))
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert "chat.yaml:1: is not UTF-8" in result.stderr


def test_wrong_usage_has_an_exit_code_of_its_own() -> None:
    assert (run().exit_code, run("/there/is/none.yaml").exit_code) == (2, 2)


def test_a_suspended_resource_renders_no_replicas() -> None:
    text = run("-", stdin=yaml.safe_dump(an_llmservice(spec__suspend=True, spec__replicas=3))).stdout
    deployment = next(each for each in yaml.safe_load_all(text) if each["kind"] == "Deployment")
    assert deployment["spec"]["replicas"] == 0


def test_what_was_chosen_stands_above_the_manifests_of_each_resource() -> None:
    text = run("-", stdin=f"{GOOD}---\n{GOOD.replace('chat', 'talk')}").stdout
    first, second = text.split("# ml/")[1:]
    for part in (first, second):
        assert "\n# maxModelLen: 8192 (" in part
        assert "\n# engineOptions.image: " in part
    assert [body["kind"] for body in yaml.safe_load_all(text)] == ["Service", "Deployment"] * 2


def test_quiet_leaves_the_comments_out_and_json_has_none() -> None:
    loud, quiet = run("-", stdin=GOOD).stdout, run("-", "--quiet", stdin=GOOD).stdout
    assert "#" not in quiet
    assert loud.endswith(quiet)
    assert "maxModelLen: " not in run("-", "-o", "json", stdin=GOOD).stdout


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028", "\u2029", "\x0b", "\x1b[2J"])
def test_no_text_can_end_a_comment(end: str) -> None:
    answer = answer_text("x", GOOD, planner_from(environment={})).answers[0]
    assert answer.plan
    note = f"a{end}kind: Secret"
    default = Default(field=f"f{end}kind: Secret", value=f"v{end}kind: Secret", reason=f"r{end}kind: Secret")
    plan = dataclasses.replace(answer.plan, notes=(note,), defaults=(default,))
    said = comments(answer, plan)
    assert said.count("kind: Secret") == 4
    assert yaml.safe_load(said) is None
    assert said.isascii()


def test_dates_and_shared_parts_stay_readable() -> None:
    text = yaml.safe_dump(an_llmservice(spec__replicas=2)).replace(
        "name: chat", "name: chat\n  annotations: {d: 2026-01-01}"
    )
    result = run("-", stdin=text)
    assert result.exit_code == 0
    assert "&id" not in result.stdout
    assert "- |-\n" in result.stdout


def test_a_claim_that_the_operator_makes_is_printed_before_its_replicas() -> None:
    model = {"uri": "hf://acme/chat", "file": "chat.gguf", "cache": {"claim": {"size": "9Gi"}}}
    claim, *_, deployment = yaml.safe_load_all(run("-", stdin=yaml.safe_dump(an_llmservice(spec__model=model))).stdout)
    (volume,) = (each for each in deployment["spec"]["template"]["spec"]["volumes"] if each["name"] == "models")
    assert claim["kind"] == "PersistentVolumeClaim"
    assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"] == "chat-weights"
    own = {**model, "cache": {"claim": {"name": "weights"}}}
    assert "kind: PersistentVolumeClaim" not in run("-", stdin=yaml.safe_dump(an_llmservice(spec__model=own))).stdout
