"""Which of a model's files an engine loads, and how many bytes they have."""

from collections.abc import Collection, Mapping

from llmservice.models.plausible import json_object, part
from llmservice.untrusted.patterns import compiled

INDEX = "model.safetensors.index.json"
MOST_INDEX_BYTES = 4 * 2**20
"""Of 40,000 tensors. It is read where the names of the files leave a doubt; of a longer one the names must do."""
_PART = compiled(r"(?P<stem>.*)-(?P<number>[0-9]{5})-of-(?P<parts>[0-9]{5})(?P<ending>\.(?:safetensors|gguf|bin))")
_COPIES = ("consolidated", "adapter_model")
"""Mistral's own format beside the usual one; an adapter beside its model."""
_PICKLES = ("pytorch_model",)


def loaded_weights(sizes: Mapping[str, int], indexed: Collection[str] = ()) -> tuple[str, ...]:
    """The files of weights that vLLM and TGI load, in order; `sizes` are all files of the model.

    Copies in folders (`original/`, `metal/`, `onnx/`) are not loaded, nor is a .bin beside a .safetensors. `indexed` is
    what the index names; with it, a file that it does not name is not loaded.
    """
    flat = sorted(name for name in sizes if "/" not in name)
    tensors = [name for name in flat if name.endswith(".safetensors")]
    usual = [name for name in tensors if not name.startswith(_COPIES)]
    if usual:
        return tuple([name for name in usual if name in indexed] or usual)
    if copies := [name for name in tensors if name.startswith("consolidated")]:
        return tuple(copies)
    return tuple(name for name in flat if name.endswith(".bin") and name.startswith(_PICKLES))


def needs_index(sizes: Mapping[str, int]) -> bool:
    """Whether names alone do not tell which files belong together."""
    names = loaded_weights(sizes)
    return INDEX in sizes and len(names) > 1 and set(parts_of(names[0], sizes)) != set(names)


def indexed_files(index: bytes) -> frozenset[str]:
    """The files that a safetensors index names; raises MalformedModel."""
    weights = part(json_object(index, INDEX, MOST_INDEX_BYTES), "weight_map")
    return frozenset(name for name in weights.values() if isinstance(name, str))


def parts_of(name: str, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """All parts that are there of the split file that `name` is a part of; the file alone when it is not split."""
    wanted = _set_of(name)
    return tuple(sorted(each for each in sizes if each.startswith(wanted[0]) and _set_of(each) == wanted))


def gguf_models(sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The GGUF models there are, each by its first part; projectors and importance matrices are none."""
    firsts: dict[tuple[str, ...], str] = {}
    for name in sorted(filter(_is_gguf_model, sizes)):
        firsts.setdefault(_set_of(name), name)
    return tuple(firsts.values())


def _set_of(name: str) -> tuple[str, ...]:
    """What all parts of a split file have in common; its name, of a file that is not split."""
    split = _PART.whole(name)
    return (split["stem"], split["parts"], split["ending"]) if split else (name,)


def _is_gguf_model(name: str) -> bool:
    file = name.rpartition("/")[2].lower()
    return file.endswith(".gguf") and "mmproj" not in file and "imatrix" not in file
