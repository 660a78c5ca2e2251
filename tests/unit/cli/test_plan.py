"""`llmservice plan`: the whole verdict, for people and for machines."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue, shipped_models
from llmservice.cli.answers import answer_file, answer_text
from llmservice.cli.plan import command
from llmservice.cli.plan_data import as_object
from llmservice.cli.plan_text import as_text
from llmservice.cli.planner_options import planner_from
from llmservice.models.inspection_answer import facts_as_json
from llmservice.planning.fit.checking import check_fit
from llmservice.planning.fit.verdict import Outcome, Verdict
from llmservice.planning.service_plan import ServicePlan
from tests.builders import an_llmservice
from tests.unit.planning.fit.setups import usual

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
VLLM = an_llmservice(
    spec__engine="vllm", spec__model__uri=f"hf://{LLAMA}", spec__gpu={"type": "L4"}, metadata__name="llama"
)
BAD = an_llmservice(spec__gpu={"type": "L44"}, spec__quantization="nope", metadata__name="bad")


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command, arguments, input=stdin)


def as_json(*resources: Any, arguments: tuple[str, ...] = ()) -> Any:
    return json.loads(run("-", "-o", "json", *arguments, stdin=yaml.safe_dump_all(resources)).stdout)


def with_verdict(verdict: Verdict | None, **changes: Any) -> str:
    """The text of a plan that knows this about memory."""
    return as_text([answer_text("chat.yaml", yaml.safe_dump({**VLLM, **changes}), planning(verdict))])


def planning(verdict: Verdict | None) -> Any:
    def plan(service: LLMService) -> ServicePlan:
        return dataclasses.replace(planner_from(environment={})(service), fit=verdict)

    return plan


def verdict(length: int, gpu: str = "L4") -> Verdict:
    types, facts = load_catalogue().accelerators, shipped_models().facts(LLAMA)
    assert facts
    return check_fit(facts, types[gpu], dataclasses.replace(usual("vllm", 256), max_model_len=length), types.values())


def test_says_what_would_run_with_every_default_and_its_reason() -> None:
    (service,) = as_json(VLLM)["services"]
    plan = planner_from(environment={})(LLMService.parse(VLLM))
    assert (service["verdict"], service["service"], service["line"]) == ("CanRun", "ml/llama", 1)
    assert (service["engine"], service["engineVersion"], service["image"]) == (
        "vllm",
        plan.engine_version,
        plan.container.image,
    )
    assert (service["accelerator"], service["devices"], service["resourceName"]) == ("L4", 1, "nvidia.com/gpu")
    assert service["args"] == list(plan.container.args)
    assert [(each["field"], each["value"], each["reason"]) for each in service["defaults"]] == [
        (each.field, each.value, each.reason) for each in plan.defaults
    ]


def test_the_text_has_every_fact_and_every_default() -> None:
    text = run("-", stdin=yaml.safe_dump(VLLM)).stdout
    plan = planner_from(environment={})(LLMService.parse(VLLM))
    assert text.startswith("ml/llama: can run  (<stdin>:1)\n")
    for part in (plan.container.image, f"hf://{LLAMA}", "1 x L4 (nvidia.com/gpu)", "--max-model-len="):
        assert part in text
    assert all(f"    {each.field} " in text for each in plan.defaults)
    assert max(map(len, text.splitlines())) <= 110


def test_a_refusal_has_rule_field_line_and_way_out() -> None:
    answer = as_json(VLLM, BAD)
    finding, other = answer["services"][1]["findings"]
    assert answer["services"][1]["verdict"] == "Refused"
    assert (other["rule"], other["field"]) == ("QuantizationMisspelled", "spec.quantization")
    assert (finding["rule"], finding["field"], finding["severity"]) == ("UnknownAccelerator", "spec.gpu.type", "error")
    text = yaml.safe_dump_all([VLLM, BAD]).splitlines()
    assert text[finding["line"] - 1].strip() == "type: L44"
    assert "L44" in run("-", stdin=yaml.safe_dump(BAD)).stdout


def test_every_problem_of_the_fields_is_told() -> None:
    wrong = an_llmservice(spec__gpu__count=-1, spec__replicas=-1, spec__typo=1)
    (service,) = as_json(wrong)["services"]
    assert {each["field"] for each in service["findings"]} == {"spec.gpu.count", "spec.replicas", "spec.typo"}


def test_exit_codes() -> None:
    assert run("-", stdin=yaml.safe_dump(VLLM)).exit_code == 0
    assert run("-", stdin=yaml.safe_dump_all([VLLM, BAD])).exit_code == 1
    assert run("-", stdin="a: [").exit_code == 1
    assert (run().exit_code, run("/there/is/none.yaml").exit_code) == (2, 2)


def test_yaml_and_json_say_the_same() -> None:
    text = yaml.safe_dump_all([VLLM, BAD, {"kind": "ConfigMap"}])
    answer = json.loads(run("-", "-o", "json", stdin=text).stdout)
    assert answer == yaml.safe_load(run("-", "-o", "yaml", stdin=text).stdout)
    assert answer["skipped"] == 1


def test_a_file_that_cannot_be_read_stands_beside_the_others(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(yaml.safe_dump(VLLM))
    (tmp_path / "bad.yaml").write_text("\n\na: [")
    result = run(str(tmp_path / "good.yaml"), str(tmp_path / "bad.yaml"), "-o", "json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert len(answer["services"]) == 1
    assert [(each["rule"], each["line"]) for each in answer["problems"]] == [("NotYaml", 3)]


def test_the_arithmetic_of_what_fits_is_shown() -> None:
    known = verdict(8192)
    assert known.outcome is Outcome.FITS
    assert "  fit        fits: 3.5 GiB" in with_verdict(known)
    (file,) = [answer_text("chat.yaml", yaml.safe_dump(VLLM), planning(known))]
    fit = as_object([file])["services"][0]["fit"]
    assert (fit["verdict"], fit["remedies"]) == ("Fits", [])
    assert fit["kvCacheBytesPerRequest"] == 2**30


def test_what_does_not_fit_and_may_run_all_the_same_is_a_warning_with_remedies() -> None:
    file = answer_text("chat.yaml", yaml.safe_dump(VLLM), planning(verdict(131_072)))
    (service,) = as_object([file])["services"]
    rules = [(each["severity"], each["rule"]) for each in service["findings"] if each["rule"] != "PlanNote"]
    assert rules == [("warning", "DoesNotFit")]
    assert [each["field"] for each in service["fit"]["remedies"]][:2] == ["maxModelLen", "kvCacheDtype"]
    assert with_verdict(verdict(131_072)).count("28000") == 1


def test_a_model_that_nobody_knows_has_the_command_that_finds_out() -> None:
    findings = answer_text("x", yaml.safe_dump(VLLM), planning(None)).answers[0].findings
    (finding,) = (each for each in findings if each.rule == "NotInspected")
    assert finding.severity == "note"
    assert f"llmservice inspect hf://{LLAMA} -o json" in finding.message
    assert "spec.model.facts" in finding.message


@pytest.mark.parametrize("changes", [{"spec__gpu": {"count": 0}}, {"spec__fit": "Ignore"}])
def test_nothing_is_said_where_nothing_was_to_be_computed(changes: dict[str, Any]) -> None:
    resource = an_llmservice(**{"spec__gpu": {"type": "L4"}, "spec__model__uri": "hf://a/b-GGUF", **changes})
    rules = [finding.rule for finding in answer_text("x", yaml.safe_dump(resource), planning(None)).findings()]
    assert "NotInspected" not in rules


def test_facts_are_given_to_resources_that_state_none(tmp_path: Path) -> None:
    facts = shipped_models().facts(LLAMA)
    assert facts
    seen: list[Any] = []

    def plan(service: LLMService) -> ServicePlan:
        seen.append(service.spec.model.facts)
        return planner_from(environment={})(service)

    stated = an_llmservice(spec__model__facts={"layers": 3})
    file = tmp_path / "chat.yaml"
    file.write_text(yaml.safe_dump_all([VLLM, stated]))
    answer_file(str(file), plan, facts_as_json(facts))
    assert [each.layers for each in seen] == [32, 3]
    assert seen[0].as_facts() == facts


def test_facts_that_are_none_are_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text('{"layers": -5}')
    result = run("-", f"--facts={tmp_path / 'facts.json'}", stdin=yaml.safe_dump(VLLM))
    assert result.exit_code == 2
    assert "-5" in result.stderr


def test_credentials_in_arguments_are_hidden_as_in_the_status() -> None:
    args = ["--middleware-token", "hf_abcdefghijklmnopqrstuvwxyz0123456789"]
    resource = {**VLLM, "spec": {**VLLM["spec"], "engineOptions": {"args": args, "image": "own/image:1"}}}
    for output in ("text", "json"):
        assert "hf_abcdef" not in run("-", "-o", output, stdin=yaml.safe_dump(resource)).stdout


def test_a_cache_is_told_with_its_claim() -> None:
    cached = an_llmservice(
        spec__engine="vllm", spec__model={"uri": f"hf://{LLAMA}", "cache": {"claim": {}}}, spec__gpu={"type": "L4"}
    )
    cache = as_json(cached)["services"][0]["cache"]
    assert (cache["claim"], cache["made"]["size"], cache["made"]["accessModes"]) == (
        "chat-weights",
        "19Gi",
        ["ReadWriteOnce"],
    )
    assert cache["expectedBytes"] > 16 * 10**9
    text = run("-", stdin=yaml.safe_dump(cached)).stdout
    assert all(word in text for word in ("chat-weights", "19Gi", "ReadWriteOnce", "model.cache.claim.size"))
    cached["spec"]["model"]["cache"] = {"claim": {"name": "weights"}}
    assert as_json(cached)["services"][0]["cache"]["made"] is None
    assert as_json(VLLM)["services"][0]["cache"] is None
