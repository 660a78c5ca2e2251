"""Whoever does what a message says has a service that fits: each remedy is made, and planned again."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.planning.device_support import types_that_take
from llmservice.planning.fit.remedies import Remedy
from llmservice.planning.fit.verdict import Outcome, Verdict
from llmservice.reconcilers.planner import CataloguePlanner
from tests.builders import an_llmservice
from tests.unit.planning.knowing import LLAMA_8B, LLAMA_70B, vllm

_PLANNER = CataloguePlanner(load_catalogue())
_MODELS = (
    *(LLAMA_8B, LLAMA_70B, "Qwen/Qwen2.5-14B-Instruct", "Qwen/Qwen3-30B-A3B", "microsoft/phi-4"),
    *("openai/gpt-oss-120b", "google/gemma-3-4b-it", "deepseek-ai/DeepSeek-V3-0324"),
)
_TYPES = ("T4", "L4", "A100-40GB", "H100", "MI210")
_NUMBERS: tuple[dict[str, Any], ...] = ({}, {"maxModelLen": 8192}, {"maxNumSeqs": 2048})
_SLICE: dict[str, Any] = {"spec__gpu": {"resourceName": "nvidia.com/mig-1g.10gb", "count": 1}}


def _verdict(changes: dict[str, Any]) -> Verdict:
    plan = _PLANNER(LLMService.parse(an_llmservice(**changes)))
    assert plan.fit is not None
    return plan.fit


def _cases() -> Iterator[dict[str, Any]]:
    for model, gpu, count, numbers in product(_MODELS, _TYPES, (1, 3), _NUMBERS):
        if (model, gpu) == ("openai/gpt-oss-120b", "T4"):
            continue  # No kernel there: refused for that.
        yield vllm(model, gpu, count, fit="Warn", **numbers)
    yield vllm(LLAMA_8B, fit="Warn") | _SLICE
    gguf = {"layers": 36, "hiddenSize": 4096, "heads": 32, "kvHeads": 8, "headSize": 128, "vocabulary": 151_936}
    for gib, gpu in product((5, 20, 60), _TYPES):
        facts = gguf | {"longestContext": 40_960, "quantization": "Q4_K_M", "fileBytes": gib * 2**30}
        yield vllm("acme/x-GGUF", gpu, engine="llamacpp", fit="Warn", maxModelLen=40_960, model__facts=facts)


def _made(changes: dict[str, Any], remedy: Remedy) -> dict[str, Any] | None:
    """The resource with the change; None for a change that is not in the resource (another checkpoint)."""
    gpu = {name: value for name, value in changes["spec__gpu"].items() if f"gpu.{name}" != remedy.without}
    if remedy.context:
        changes = changes | {"spec__maxModelLen": remedy.context}
    match remedy.field:
        case "gpu.count":
            return changes | {"spec__gpu": gpu | {"count": int(remedy.value)}}
        case "gpu.type":
            return changes | {"spec__gpu": gpu | {"type": remedy.value, "count": remedy.count or gpu["count"]}}
        case "maxModelLen" | "maxNumSeqs":
            return changes | {f"spec__{remedy.field}": int(remedy.value)}
        case "kvCacheDtype" | "quantization":
            return changes | {f"spec__{remedy.field}": remedy.value}
        case "engineOptions.args":
            return changes | {"spec__engineOptions": {"args": [remedy.value]}}
        case _:
            return None


def test_every_remedy_makes_it_fit() -> None:
    found = [(changes, remedy) for changes in _cases() for remedy in _verdict(changes).remedies]
    made = [(remedy, again) for changes, remedy in found if (again := _made(changes, remedy)) is not None]
    assert [(remedy, again) for remedy, again in made if _verdict(again).outcome is not Outcome.FITS] == []
    fields = {"maxModelLen", "kvCacheDtype", "maxNumSeqs", "quantization", "gpu.count", "gpu.type"}
    assert {remedy.field for remedy, _ in made} >= fields
    assert any(remedy.count for remedy, _ in made)
    assert any(remedy.without for remedy, _ in made)


def test_types_that_the_version_does_not_run_on_are_no_remedy() -> None:
    catalogue, spec = load_catalogue(), LLMService.parse(an_llmservice(**vllm())).spec
    types = [catalogue.accelerator(name) for name in ("V100-32GB", "L4", "Gaudi2", "MI300X")]
    new, old = (
        [each.name for each in types_that_take(spec, catalogue.engine_version("vllm", version), types)]
        for version in ("0.33.0", "0.10.2")
    )
    assert (new, old) == (["L4", "MI300X"], ["V100-32GB", "L4"])
