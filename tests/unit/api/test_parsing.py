"""Parsing: every problem at once, by the field's name as users write it."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.errors import InvalidSpec
from tests.builders import an_llmservice
from tests.unit.api.cases import ACCEPTED, REFUSED, Refused, name_of, refusal


def problems(**changes: Any) -> list[str]:
    return refusal(changes).split("\n")


@pytest.mark.parametrize("case", REFUSED, ids=name_of)
def test_refuses_with_the_field_and_the_numbers(case: Refused) -> None:
    (line,) = problems(**case.changes)
    field, _, text = line.partition(": ")
    assert field == case.field or field.endswith(f".{case.field}")
    assert [name for name in case.names if name not in text] == []


@pytest.mark.parametrize("changes", ACCEPTED, ids=name_of)
def test_accepts(changes: dict[str, Any]) -> None:
    assert LLMService.parse(an_llmservice(**changes)).kind == "LLMService"


def test_names_every_problem_at_once() -> None:
    lines = problems(metadata__name="7b", spec__engine="X", spec__gpu={"count": -1}, spec__nmes=[])
    assert [line.split(": ")[0] for line in lines] == ["metadata.name", "spec.engine", "spec.gpu.count", "spec.nmes"]


def test_names_every_broken_rule_of_one_part() -> None:
    lines = problems(spec__model__file="../b.gguf", spec__model__revision="main")
    assert [line.split(": ")[0] for line in lines] == ["spec.model.file", "spec.model.revision"]


@pytest.mark.parametrize(
    ("changes", "field", "names"),
    [
        ({"apiVersion": "llmservice.dev/v1"}, "apiVersion", "llmservice.dev/v1alpha1"),
        ({"kind": "LlmService"}, "kind", "LLMService"),
        ({"metadata": None}, "metadata", ""),
        ({"metadata__name": None}, "metadata.name", ""),
        ({"sepc": {}}, "sepc", "spec"),
    ],
)
def test_refuses_what_is_not_an_llmservice(changes: dict[str, Any], field: str, names: str) -> None:
    (line,) = problems(**changes)
    assert line.startswith(f"{field}: ")
    assert names in line


def test_never_repeats_what_might_be_a_secret() -> None:
    secret = "hf_0123456789"  # noqa: S105
    lines = problems(
        spec__model__tokenSecretRef=secret,
        spec__model__uri=f"https://user:{secret}@example.com",
        spec__engineOptions__env=[{"name": "HF_TOKEN", "value": {secret: secret}}],
        spec__engineOptions__args=f"--api-key={secret}",
        spec__rollout__strategy=secret,
    )
    assert len(lines) == 4
    assert secret not in "\n".join(lines)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ANY_FIELD = st.sampled_from([field.alias for field in LLMServiceSpec.model_fields.values()]) | st.text(min_size=1)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(field=ANY_FIELD, value=ANY_JSON)
def test_anything_in_a_field_is_parsed_or_refused_by_lines_that_name_it(field: str, value: Any) -> None:
    lines = refusal({"spec": {**an_llmservice()["spec"], field: value}}).split("\n")
    assert lines == [""] or [line for line in lines if not re.match("spec[.[].+: .+", line)] == []


@pytest.mark.parametrize(
    ("value", "field", "names"),
    [
        ({"a\nb": 1}, "spec.gpu['a\\nb']", "type, count, nodes, resourceName"),
        ({"x" * 99: 1}, f"spec.gpu['{'x' * 64}']", "type, count, nodes, resourceName"),
        ({7: 1}, "spec.gpu[7]", ""),
        ({"count": 10**5000}, "spec.gpu.count", "64"),
    ],
    ids=["two lines", "long", "no text", "huge"],
)
def test_a_line_stays_a_short_line(value: Any, field: str, names: str) -> None:
    (line,) = problems(spec__gpu=value)
    assert line.startswith(f"{field}: ")
    assert names in line
    assert len(line) < 256


def test_the_reason_is_one_of_the_closed_list() -> None:
    with pytest.raises(InvalidSpec) as error:
        LLMService.parse({})
    assert error.value.reason is Reason.INVALID_SPEC


def test_null_is_omission() -> None:
    raw = an_llmservice()
    raw["spec"] |= {"quantization": None, "replicas": None, "pod": None, "gpu": {"count": 0, "type": None}}
    spec = LLMService.parse(raw).spec
    assert (spec.quantization, spec.replicas, spec.gpu.type) == ("auto", None, None)


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert LLMService.parse(an_llmservice(spec__replicas=2.0)).spec.replicas == 2


def test_without_a_namespace_it_is_the_default_one() -> None:
    assert LLMService.parse(an_llmservice(metadata__namespace=None)).metadata.namespace == "default"


def test_metadata_of_others_is_passed_over() -> None:
    metadata = {"metadata__finalizers": ["a/b"], "metadata__creationTimestamp": "2026-01-01T00:00:00Z"}
    assert LLMService.parse(an_llmservice(**metadata)).metadata.name == "chat"


def test_the_status_is_read_as_it_stands() -> None:
    status = {"observedGeneration": 3, "unheardOf": [None]}
    assert LLMService.parse(an_llmservice(status=status)).status == status


def test_what_is_omitted_has_a_constant_or_nothing() -> None:
    spec = LLMService.parse(an_llmservice(spec__gpu={"type": "X1"})).spec
    assert (spec.gpu.count, spec.quantization, spec.suspend, spec.model.trust_remote_code) == (1, "auto", False, False)
    assert (spec.max_model_len, spec.max_num_seqs, spec.replicas, spec.rollout.strategy) == (None,) * 4


def test_gives_back_what_the_user_wrote_by_the_names_of_kubernetes() -> None:
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}]}}
    pod = {
        "affinity": affinity,
        "hostAliases": [{"ip": "::1", "hostnames": ["a"]}],
        "resources": {"limits": {"cpu": 2}},
    }
    written = LLMService.parse(an_llmservice(spec__pod=pod)).spec.pod.as_json()
    assert written == pod | {"resources": {"limits": {"cpu": "2"}}}
