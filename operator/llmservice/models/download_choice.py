"""Which of a model's files are downloaded: those that an engine loads, and no copy of them in another format."""

from collections.abc import Collection, Mapping

from llmservice.models.gguf_choice import chosen_gguf
from llmservice.models.weight_files import loaded_weights, parts_of
from llmservice.untrusted.patterns import compiled

SAFETENSORS = "safetensors"
GGUF = "gguf"
ADAPTER = "adapter"
LONGEST_NAME = 512
ADAPTER_CONFIG = "adapter_config.json"
_ADAPTER_WEIGHTS = "adapter_model"
_ENDINGS = (".json", ".txt", ".model", ".tiktoken", ".jinja", ".py")
"""Config, generation config, tokenizer, chat template. Python files come along: an engine that is told to stay offline
can take them from nowhere else, and runs them only where `trustRemoteCode` says so."""
_TOKENIZERS = ("tokenizer", "tekken")
"""Some end with a version: `tokenizer.model.v3`."""
_MODULE_ENDINGS = (*_ENDINGS, ".safetensors")
_MODULE = compiled(r"([0-9]{1,2}_[A-Za-z0-9]+|additional_chat_templates)/[^/]+")
"""Files in folders that belong to a model: the modules of sentence-transformers, and further templates."""


def chosen_files(
    sizes: Mapping[str, int], wanted: str, *, file: str = "", quantization: str = "", indexed: Collection[str] = ()
) -> tuple[str, ...]:
    """The names of the files, weights first; none where there are no weights. `wanted` is the format.

    `sizes` are all files, `indexed` what the safetensors index names. Raises NoSuchGguf.
    """
    if wanted == GGUF:
        return parts_of(chosen_gguf(sizes, file, quantization), sizes)
    if wanted == ADAPTER:
        return _of_adapter(sizes)
    weights = loaded_weights(sizes, indexed)
    others = (name for name in sorted(sizes) if name not in weights and _belongs(name))
    return (*weights, *others) if weights else ()


def _of_adapter(sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The files of an adapter as peft writes them: its weights, and the config without which they mean nothing."""
    flat = sorted(name for name in sizes if name.startswith(_ADAPTER_WEIGHTS) and "/" not in name)
    weights = [name for name in flat if name.endswith(".safetensors")] or [
        name for name in flat if name.endswith(".bin")
    ]
    return (*weights, ADAPTER_CONFIG) if weights and ADAPTER_CONFIG in sizes else ()


def is_safe_name(name: object) -> bool:
    """Whether a name that a stranger gave stays inside the folder that it is put into."""
    return (
        isinstance(name, str)
        and 0 < len(name) <= LONGEST_NAME
        and name.isprintable()
        and "\\" not in name
        and not {"", ".", ".."} & set(name.split("/"))
        and all(len(each.encode()) <= _LONGEST_PART for each in name.split("/"))
    )


_LONGEST_PART = 200
"""Bytes of a name that a file system takes (255 of most), with what is added while a file is not complete."""


def _belongs(name: str) -> bool:
    if "/" in name:
        return _MODULE.matches(name) and name.endswith(_MODULE_ENDINGS)
    return name.endswith(_ENDINGS) or name.startswith(_TOKENIZERS)
