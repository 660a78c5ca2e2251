"""`llmservice validate`: every finding at once, in four formats, and exit codes for pipelines."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from click.testing import CliRunner, Result

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.cli import validate
from llmservice.cli.answers import FileAnswer
from llmservice.cli.findings import Finding, Rule, Severity
from llmservice.cli.junit import as_junit
from llmservice.cli.rules import meaning_of
from llmservice.cli.sarif import as_sarif
from llmservice.cli.validate import command
from tests.builders import an_llmservice

GOOD = an_llmservice()
WARNED = an_llmservice(spec__engineOptions={"image": "own/image:1", "version": "b11312"}, metadata__name="warned")
TWO = """\
apiVersion: llmservice.dev/v1alpha1
kind: LLMService
metadata: {name: two, namespace: ml}
spec:
  engine: llamacpp
  model: {uri: "pvc://models/tiny.gguf"}
  gpu: {count: -1, type: L4}
  replica: 4
"""
PLANNED = """\
kind: ConfigMap
---
apiVersion: llmservice.dev/v1alpha1
kind: LLMService
metadata: {name: planned}
spec:
  engine: llamacpp
  model: {uri: "pvc://models/tiny.gguf"}
  gpu: {count: 0}
  engineOptions:
    args:
      - --port
      - "1"
"""


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command, arguments, input=stdin)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Four files, by their relative names, with a warning, two problems of fields, one of planning, and no YAML."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "warned.yaml").write_text(yaml.safe_dump(WARNED))
    (tmp_path / "fields.yaml").write_text(TWO)
    (tmp_path / "a planned.yaml").write_text(PLANNED)
    (tmp_path / "none.yaml").write_text("a: [")
    return ["warned.yaml", "fields.yaml", "a planned.yaml", "none.yaml"]


def test_every_finding_of_every_file_has_place_severity_field_and_rule(files: list[str]) -> None:
    result = run(*files, "-o", "json")
    found = json.loads(result.stdout)["findings"]
    keys = ("file", "line", "severity", "field", "rule")
    assert result.exit_code == 1
    assert [tuple(each.get(key) for key in keys) for each in found if each["severity"] != "note"] == [
        ("warned.yaml", 1, "warning", None, "OwnImage"),
        ("fields.yaml", 7, "error", "spec.gpu.count", "InvalidSpec"),
        ("fields.yaml", 8, "error", "spec.replica", "InvalidSpec"),
        ("a planned.yaml", 12, "error", "spec.engineOptions.args[0]", "OwnedArgument"),
        ("none.yaml", 1, "error", None, "NotYaml"),
    ]


def test_independent_refusals_of_planning_are_told_at_once_each_by_its_rule() -> None:
    wrong = an_llmservice(
        spec__dtype="float16", spec__quantization="nope", spec__engineOptions={"args": ["--port"], "env": []}
    )
    found = json.loads(run("-", "-o", "json", stdin=yaml.safe_dump(wrong)).stdout)["findings"]
    assert {(each["rule"], each["field"]) for each in found} == {
        ("UnsupportedField", "spec.dtype"),
        ("QuantizationMisspelled", "spec.quantization"),
        ("OwnedArgument", "spec.engineOptions.args[0]"),
    }


def test_the_summary_counts_what_was_checked_and_what_was_skipped(files: list[str]) -> None:
    result = run(*files, "-o", "json")
    summary = json.loads(result.stdout)["summary"]
    assert summary == {"files": 4, "services": 3, "errors": 4, "warnings": 1, "notes": 0, "skipped": 1}
    assert "3 LLMServices in 4 files: 4 errors, 1 warning" in result.stderr


def test_text_has_a_line_for_each_as_compilers_write_them(files: list[str]) -> None:
    lines = run(*files).stdout.splitlines()
    assert len(lines) == 5
    assert "fields.yaml:7:9: error: spec.gpu.count: " in lines[1]
    assert lines[1].endswith("[InvalidSpec]")


@pytest.mark.parametrize(
    ("resources", "strict", "code"),
    [
        ([GOOD], False, 0),
        ([GOOD], True, 0),
        ([WARNED], False, 0),
        ([WARNED], True, 1),
        ([GOOD, an_llmservice(spec__engine="other")], False, 1),
        ([{"kind": "ConfigMap"}], True, 0),
    ],
)
@pytest.mark.parametrize("output", ["text", "json", "sarif", "junit"])
def test_exit_codes(resources: list[Any], output: str, code: int, *, strict: bool) -> None:
    arguments = ["-", "-o", output, *(["--strict"] if strict else [])]
    assert run(*arguments, stdin=yaml.safe_dump_all(resources)).exit_code == code


def test_wrong_usage_has_an_exit_code_of_its_own() -> None:
    assert [run().exit_code, run("/there/is/none.yaml").exit_code, run("-", "-o", "xml").exit_code] == [2, 2, 2]


def test_a_note_never_fails() -> None:
    gpu = {"type": "L55", "resourceName": "nvidia.com/gpu"}
    unknown = an_llmservice(spec__gpu=gpu, spec__model__uri="hf://nobody/knows-GGUF")
    result = run("-", "--strict", "-o", "json", stdin=yaml.safe_dump(unknown))
    assert result.exit_code == 0
    found = json.loads(result.stdout)["findings"]
    assert {each["severity"] for each in found} == {"note"}
    assert {"NotInspected", "PlanNote"} <= {each["rule"] for each in found}


@pytest.mark.parametrize(
    "head", ["kind: LLMservice", "kind: LLMServices", "apiVersion: v1", "apiVersion: llmservice.dev/v1"]
)
def test_a_misspelled_head_is_a_finding_and_no_other_kind(head: str) -> None:
    key = head.partition(":")[0]
    text = "\n".join(head if line.startswith(key) else line for line in TWO.splitlines())
    found = json.loads(run("-", "-o", "json", stdin=text).stdout)["findings"]
    assert key in [each["field"] for each in found]


def test_items_of_lists_are_checked_one_by_one() -> None:
    bad, worse = (an_llmservice(spec__engine="other", metadata__name=name) for name in ("bad", "worse"))
    for kind in ("List", "LLMServiceList"):
        text = json.dumps({"apiVersion": "v1", "kind": kind, "items": [GOOD, bad, worse]}, indent=1)
        found = json.loads(run("-", "-o", "json", stdin=text).stdout)
        assert (found["summary"]["services"], found["summary"]["errors"]) == (3, 2)
        assert len({each["line"] for each in found["findings"]}) == 2


def test_sarif_has_what_its_schema_requires(files: list[str]) -> None:
    """Required by SARIF 2.1.0 (3.13.2, 3.13.4, 3.14.6, 3.18.2, 3.19.8, 3.27.11, 3.49.3), and read by GitHub."""
    log = json.loads(run(*files, "-o", "sarif").stdout)
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run_,) = log["runs"]
    driver = run_["tool"]["driver"]
    assert driver["name"] == "llmservice"
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in rules)
    assert len(run_["results"]) == 5
    for result in run_["results"]:
        assert result["message"]["text"]
        assert result["level"] in {"error", "warning", "note"}
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert physical["region"]["startLine"] >= 1
        assert physical["region"]["startColumn"] >= 1
        assert physical["artifactLocation"]["uri"] in {"warned.yaml", "fields.yaml", "a%20planned.yaml", "none.yaml"}
    (logical,) = run_["results"][1]["locations"][0]["logicalLocations"]
    assert logical["fullyQualifiedName"] == "ml/two: spec.gpu.count"


def test_sarif_names_files_below_the_working_folder_relative_to_it(files: list[str], tmp_path: Path) -> None:
    def uri(path: Path) -> str:
        results = json.loads(run(str(path), "-o", "sarif").stdout)["runs"][0]["results"]
        return str(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])

    assert uri(tmp_path / files[1]) == "fields.yaml"
    outside = tmp_path.parent / f"{tmp_path.name}-outside.yaml"
    outside.write_text(TWO)
    assert uri(outside) == outside.as_uri()


def test_sarif_without_findings_is_a_run_without_results() -> None:
    (run_,) = json.loads(run("-", "-o", "sarif", stdin=yaml.safe_dump(GOOD)).stdout)["runs"]
    assert (run_["results"], run_["tool"]["driver"]["rules"]) == ([], [])


def test_junit_has_a_suite_for_each_file_and_a_case_for_each_service(files: list[str]) -> None:
    root = ET.fromstring(run(*files, "-o", "junit").stdout)  # noqa: S314  (our own)
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == ("testsuites", "4", "3", "0")
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == files
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert set(cases) == {"ml/warned", "ml/two", "default/planned", "(file)"}
    assert cases["ml/warned"].find("failure") is None
    assert "OwnImage" in (cases["ml/warned"].findtext("system-out") or "")
    failure = cases["ml/two"].find("failure")
    assert failure is not None
    assert failure.get("type") == "InvalidSpec"
    assert (failure.text or "").count("fields.yaml:") == 2


def test_junit_cases_of_the_same_name_have_their_line() -> None:
    root = ET.fromstring(run("-", "-o", "junit", stdin=yaml.safe_dump_all([GOOD, GOOD])).stdout)  # noqa: S314
    assert len({case.get("name") for case in root.iter("testcase")}) == 2


def test_junit_counts_warnings_as_failures_where_they_fail() -> None:
    text = yaml.safe_dump_all([GOOD, WARNED])
    root = ET.fromstring(run("-", "-o", "junit", "--strict", stdin=text).stdout)  # noqa: S314
    assert (root.get("tests"), root.get("failures")) == ("2", "1")


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\x85", "\u2028", "\udcff", "\ufffe", "]]>", "<&\"'"])
def test_no_text_breaks_a_format(letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of a file is not checked by anybody before."""
    name = f"a{letter}b"
    finding = Finding(file=name, severity=Severity.ERROR, rule=Rule.NOT_YAML, message="m")
    answer = FileAnswer(file=name, problem=finding)
    monkeypatch.setattr(validate, "answer_files", lambda *_, **__: [answer])
    assert len(run("-", stdin="").stdout.splitlines()) == 1
    root = ET.fromstring(as_junit([answer], {Severity.ERROR}))  # noqa: S314
    assert root.get("failures") == "1"
    assert json.loads(as_sarif([answer]))["runs"][0]["results"][0]["ruleId"] == "NotYaml"
    assert json.loads(run("-", "-o", "json", stdin="").stdout)["summary"]["errors"] == 1


@pytest.mark.parametrize("rule", [*Rule, *Reason])
def test_every_rule_has_a_meaning_of_its_own(rule: str) -> None:
    assert meaning_of(rule).meaning
    assert rule == "InvalidSpec" or meaning_of(rule) != meaning_of("InvalidSpec")


def test_text_of_a_resource_stands_on_one_line() -> None:
    text = yaml.safe_dump(an_llmservice(metadata__name="a\x1b[2J\nb\u2028c", spec__engine="x\ny"))
    result = run("-", stdin=text)
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert all(line.startswith("<stdin>:") for line in result.stdout.splitlines())
