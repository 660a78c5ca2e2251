"""What an inspection tells, as a text of at most 4 kB: a pod's termination message is no longer.

    {"model": "hf://org/name", "revision": "0e9e39f2…", "facts": {"architecture": "LlamaForCausalLM", "layers": 32, …}}
    {"model": "hf://org/name", "failure": {"reason": "Gated", "message": "…", "remedy": "…"}}

Facts have the names of ModelFacts in camelCase; what is not known is left out.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.models.model_facts import ModelFacts, known_values
from llmservice.models.plausible import MalformedModel, implausible, json_object, part
from llmservice.untrusted.texts import cut, printable

MOST_BYTES = 4096
"""Of a termination message (k8s.io/kubernetes, pkg/kubelet/container/runtime.go: MaxPodTerminationMessageLogLength)."""
_LONGEST_MODEL = 1024
_LONGEST_MESSAGE = 512
_FACTS = TypeAdapter(ModelFacts)


def answer_of(model: str, revision: str, result: ModelFacts | InspectionFailure) -> dict[str, Any]:
    """The answer as a JSON object."""
    answer: dict[str, Any] = {"model": cut(printable(model), _LONGEST_MODEL)}
    if revision:
        answer["revision"] = revision
    if isinstance(result, ModelFacts):
        return answer | {"facts": facts_as_json(result)}
    message = cut(printable(result.message), _LONGEST_MESSAGE)
    return answer | {"failure": {"reason": result.reason.value, "message": message, "remedy": result.remedy}}


def answer_text(answer: Mapping[str, Any]) -> str:
    """The answer in ASCII, so that its letters are its bytes, at most `MOST_BYTES`; without the model if it must be."""
    text = _as_text(answer)
    return text if len(text) <= MOST_BYTES else _as_text({key: answer[key] for key in answer if key != "model"})


def facts_in(text: str) -> ModelFacts | InspectionFailure:
    """What an answer tells. Anybody may have written it: what cannot be true is a failure, never an error."""
    try:
        answer = json_object(text, "the answer of the inspection", MOST_BYTES)
        if failure := part(answer, "failure"):
            return _failure_in(failure)
        return _facts_in(answer.get("facts"))
    except MalformedModel as error:
        return InspectionFailure(FailureReason.NOT_A_MODEL, str(error))


def facts_as_json(facts: ModelFacts) -> dict[str, Any]:
    """What is known, with the names of ModelFacts in camelCase."""
    named: dict[str, Any] = _renamed(known_values(facts), _camel)
    return named


def with_field_names(facts: Any) -> Any:
    """Facts as an answer writes them, or as Python does, with the names of ModelFacts."""
    return _renamed(facts, _snake)


def _facts_in(value: object) -> ModelFacts:
    try:
        facts = _FACTS.validate_python(with_field_names(value), strict=False)
    except (ValidationError, RecursionError) as error:
        raise MalformedModel("the answer of the inspection holds no facts") from error
    if problem := implausible(facts):
        raise MalformedModel(f"the answer of the inspection cannot be true: {problem}")
    return facts


def _failure_in(failure: Mapping[str, Any]) -> InspectionFailure:
    try:
        reason = FailureReason(str(failure.get("reason")))
    except ValueError as error:
        raise MalformedModel("the answer of the inspection names an unknown reason") from error
    return InspectionFailure(reason, cut(printable(str(failure.get("message", ""))), _LONGEST_MESSAGE))


def _renamed(value: Any, name: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name(key): _renamed(item, name) for key, item in value.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _as_text(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=True)
