"""Models on devices: one of every kind that has a sentence of its own."""

from dataclasses import replace

from llmservice.catalog.loader import load_catalogue
from llmservice.models.model_facts import ModelFacts
from llmservice.models.sizes import GIB
from llmservice.planning.fit.checking import check_fit
from llmservice.planning.fit.setup import Setup
from tests.unit.models.models import known
from tests.unit.planning.fit.setups import usual

_VLLM = usual("vllm", 256)
_LONG = replace(_VLLM, max_model_len=131_072)
_LLAMA_8B, _LLAMA_70B = known("meta-llama/Llama-3.1-8B-Instruct"), known("meta-llama/Llama-3.3-70B-Instruct")
_QWEN_7B, _LARGEST = known("Qwen/Qwen2.5-7B-Instruct"), known("meta-llama/Llama-3.1-405B-Instruct")
_FP8_LARGE_STEP = replace(_VLLM, batched_tokens=8192, quantization="fp8")

_CASES: tuple[tuple[ModelFacts, str, Setup], ...] = (
    (_LLAMA_8B, "L4", _VLLM),
    (_LLAMA_8B, "B200", replace(_VLLM, max_num_seqs=16)),
    (_LLAMA_8B, "L4", _LONG),
    (_LLAMA_8B, "L4", usual("llamacpp", 32, "Q4_K_M")),
    (_LLAMA_8B, "T4", _VLLM),
    (_LLAMA_8B, "T4", replace(_LONG, devices=2)),
    (_LLAMA_70B, "H100", _FP8_LARGE_STEP),
    (_LLAMA_70B, "L4", replace(_VLLM, devices=4)),
    (_LARGEST, "T4", _VLLM),
    (_QWEN_7B, "L4", replace(_VLLM, devices=8)),
    (ModelFacts(file_bytes=5 * GIB, dtype="bfloat16"), "L4", _VLLM),
    (ModelFacts(file_bytes=int(20.2 * GIB), dtype="bfloat16"), "L4", _VLLM),
    (ModelFacts(), "L4", _VLLM),
    (_LLAMA_8B, "Gaudi3", _VLLM),
)


def sentences() -> list[str]:
    """What is said of each."""
    types = load_catalogue().accelerators
    found = [check_fit(facts, types[gpu], setup, types.values()) for facts, gpu, setup in _CASES]
    return [f"{verdict.outcome}: {verdict.message}" for verdict in found]
