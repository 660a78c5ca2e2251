"""What a model is asked for, by the class that loads it and by what stands beside it."""

from collections.abc import Collection, Mapping
from typing import Any

from llmservice.models.model_facts import Task

SENTENCE_TRANSFORMERS = "modules.json"
"""A file of sentence-transformers: the model is pooled, whatever its class could do."""
_GENERATING = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel", "ForVision2Seq", "ChatModel", "ChatGLMModel")
_LONGEST_TYPE = 64
_NOT_POOLED = ("UltravoxModel", "MiDashengLMModel", "MossAudioModel", "Qwen2_5OmniModel")
"""Classes of vLLM (model_executor/models/registry.py) that generate, whatever their names end with."""
_PIPELINES = {
    "text-generation": Task.GENERATE,
    "image-text-to-text": Task.GENERATE,
    "text-ranking": Task.RERANK,
    "feature-extraction": Task.EMBED,
    "sentence-similarity": Task.EMBED,
    "automatic-speech-recognition": Task.TRANSCRIBE,
}
"""The Hub's `pipeline_tag`."""


def task_of(architecture: str, config: Mapping[str, Any]) -> Task | None:
    """By the class alone; None where it does not tell."""
    if architecture.startswith("Whisper"):
        return Task.TRANSCRIBE
    if architecture.endswith("ForSequenceClassification"):
        return Task.RERANK if _labels(config) == 1 else None
    if architecture.endswith(_GENERATING) or architecture in _NOT_POOLED:
        return Task.GENERATE
    return Task.EMBED if architecture.endswith("Model") else None


def is_encoder(config: Mapping[str, Any]) -> bool:
    """Whether a model reads a text as a whole, as BERT and its kin do: it keeps nothing for the next token."""
    return "bert" in str(config.get("model_type", ""))[:_LONGEST_TYPE].lower() and not config.get("is_decoder")


def task_with_files(task: Task | None, files: Collection[str], pipeline: str) -> Task | None:
    """By what stands beside config.json too: an embedding model's class is often one that could generate."""
    if SENTENCE_TRANSFORMERS in files and task in {None, Task.GENERATE}:
        return Task.RERANK if _PIPELINES.get(pipeline) is Task.RERANK else Task.EMBED
    return task or _PIPELINES.get(pipeline)


def _labels(config: Mapping[str, Any]) -> int:
    """Two in transformers, unless the config names others."""
    names = config.get("id2label")
    if isinstance(names, dict):
        return len(names)
    number = config.get("num_labels")
    return number if isinstance(number, int) else 2
