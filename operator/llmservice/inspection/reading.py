"""Which of a model's files are read, and what they say together."""

import dataclasses
from collections.abc import Sequence

from llmservice.inspection.model_files import InspectionFailed, Listing, ModelFiles, read_whole
from llmservice.models.checkpoint_quantization import modelopt_quantization
from llmservice.models.gguf_choice import NoSuchGguf, chosen_gguf
from llmservice.models.gguf_facts import facts_of_gguf
from llmservice.models.gguf_header import GgufHeader, read_gguf_header
from llmservice.models.gguf_values import MOST_HEADER_BYTES, TruncatedHeader
from llmservice.models.hugging_face_config import MOST_CONFIG_BYTES, config_in, facts_of_config
from llmservice.models.inspection_failure import FailureReason
from llmservice.models.model_facts import ModelFacts, Task
from llmservice.models.model_task import SENTENCE_TRANSFORMERS, task_with_files
from llmservice.models.plausible import MalformedModel, count, json_object, limit_of
from llmservice.models.safetensors_header import LENGTH_BYTES, header_length, parameters_in, values_by_type
from llmservice.models.weight_files import (
    INDEX,
    MOST_INDEX_BYTES,
    gguf_models,
    indexed_files,
    loaded_weights,
    needs_index,
    parts_of,
)

_CONFIG = "config.json"
_MODELOPT = "hf_quant_config.json"
_POOLING = "sentence_bert_config.json"
_FIRST_WINDOW = 2**19


async def facts_from(files: ModelFiles, listing: Listing, file: str, quantization: str = "") -> ModelFacts:
    """The facts of the GGUF model `file`, or without one of whatever model there is; raises InspectionFailed.

    Of several GGUF models that of `quantization`, as a download chooses.
    """
    try:
        if file or _is_gguf(listing):
            facts = await _of_gguf(files, listing, file, quantization)
        elif _CONFIG in listing.sizes:
            facts = await _of_config(files, listing)
        else:
            raise InspectionFailed(FailureReason.NOT_A_MODEL, "there is neither a config.json nor a GGUF file")
    except MalformedModel as error:
        raise InspectionFailed(FailureReason.NOT_A_MODEL, str(error)) from error
    return dataclasses.replace(facts, gated=listing.gated)


def _is_gguf(listing: Listing) -> bool:
    """Whether there are GGUF files and nothing that another engine would load."""
    return not (_CONFIG in listing.sizes and loaded_weights(listing.sizes)) and bool(gguf_models(listing.sizes))


async def _of_config(files: ModelFiles, listing: Listing) -> ModelFacts:
    facts = facts_of_config(config_in(await read_whole(files, _CONFIG, MOST_CONFIG_BYTES)))
    facts = dataclasses.replace(facts, task=task_with_files(facts.task, listing.sizes, listing.pipeline))
    facts = await _with_weights(files, listing, facts)
    if not facts.quantization and _MODELOPT in listing.sizes:
        said = modelopt_quantization(json_object(await _small(files, _MODELOPT), _MODELOPT, MOST_CONFIG_BYTES))
        facts = dataclasses.replace(
            facts, quantization=said.method, quantization_bits=said.bits, quantization_group=said.group
        )
    if facts.task is Task.EMBED and SENTENCE_TRANSFORMERS in listing.sizes and _POOLING in listing.sizes:
        # vLLM takes this length for an embedding model's.
        said_length = json_object(await _small(files, _POOLING), _POOLING, MOST_CONFIG_BYTES)
        length = count(said_length, "longest_context", "max_seq_length")
        facts = dataclasses.replace(facts, longest_context=length or facts.longest_context)
    return facts


async def _small(files: ModelFiles, name: str) -> bytes:
    return await read_whole(files, name, MOST_CONFIG_BYTES)


async def _with_weights(files: ModelFiles, listing: Listing, facts: ModelFacts) -> ModelFacts:
    weights = await _weights(files, listing)
    size = min(limit_of("file_bytes"), sum(listing.sizes[name] for name in weights))
    parameters = parameters_in(listing.values) or await _parameters(files, weights)
    return dataclasses.replace(facts, file_bytes=size, parameters=parameters)


async def _weights(files: ModelFiles, listing: Listing) -> Sequence[str]:
    if not needs_index(listing.sizes) or listing.sizes[INDEX] > MOST_INDEX_BYTES:
        return loaded_weights(listing.sizes)
    index = await read_whole(files, INDEX, MOST_INDEX_BYTES)
    return loaded_weights(listing.sizes, indexed_files(index))


async def _parameters(files: ModelFiles, weights: Sequence[str]) -> int:
    """Of one file by its header; 0 for several, each of which would have to be asked."""
    if len(weights) != 1 or not weights[0].endswith(".safetensors"):
        return 0
    length = header_length(await files.read(weights[0], 0, LENGTH_BYTES))
    return parameters_in(values_by_type(await files.read(weights[0], LENGTH_BYTES, length)))


async def _of_gguf(files: ModelFiles, listing: Listing, file: str, quantization: str) -> ModelFacts:
    try:
        parts = parts_of(chosen_gguf(listing.sizes, file, quantization), listing.sizes)
    except NoSuchGguf as error:
        raise InspectionFailed(FailureReason.FILE_MISSING, str(error)) from error
    header = await _header(files, parts[0])
    size = min(limit_of("file_bytes"), sum(listing.sizes[name] for name in parts))
    return facts_of_gguf(header, size, parts=len(parts))


async def _header(files: ModelFiles, name: str) -> GgufHeader:
    """By windows that grow fourfold: all of them together cost a third more than the last."""
    data, size = bytearray(), _FIRST_WINDOW
    while len(data) < MOST_HEADER_BYTES:
        piece = await files.read(name, len(data), size - len(data))
        data += piece
        try:
            return read_gguf_header(data)
        except TruncatedHeader:
            if len(data) < size:
                raise MalformedModel(f"{name} ends within its header") from None
        size = min(4 * size, MOST_HEADER_BYTES)
    raise InspectionFailed(FailureReason.TOO_LARGE, f"the header of {name} has more than {MOST_HEADER_BYTES} bytes")
