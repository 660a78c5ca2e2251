"""How many weights a safetensors file holds, by its header: eight bytes of length, then JSON.

Source: README of huggingface/safetensors.
"""

from collections.abc import Mapping
from typing import Any

from llmservice.models.plausible import MalformedModel, json_object, limit_of

LENGTH_BYTES = 8
MOST_HEADER_BYTES = 4 * 2**20
"""A file of 1,000 tensors has a header of 100 kB."""
_NOT_PACKED = frozenset(("BF16", "F16", "F32", "F8_E4M3", "F8_E5M2", "I8"))
"""Of these types one value is one weight; narrower weights are packed, several into one."""


def header_length(beginning: bytes) -> int:
    """Bytes of the JSON that follows the first eight; raises MalformedModel."""
    length = int.from_bytes(beginning[:LENGTH_BYTES], "little")
    if len(beginning) < LENGTH_BYTES or not 2 <= length <= MOST_HEADER_BYTES:  # noqa: PLR2004  ("{}" is the shortest)
        raise MalformedModel(f"a safetensors header cannot have {length} bytes")
    return length


def values_by_type(header: bytes) -> dict[str, int]:
    """How many values the tensors of a file have, by their type; raises MalformedModel."""
    totals: dict[str, int] = {}
    for name, tensor in json_object(header, "the safetensors header", MOST_HEADER_BYTES).items():
        if name != "__metadata__" and isinstance(tensor, dict):
            kind = str(tensor.get("dtype"))[:16]
            totals[kind] = totals.get(kind, 0) + _values(tensor.get("shape"))
    return totals


def parameters_in(values: Mapping[str, Any]) -> int:
    """The number of weights, by the number of values of each type; 0 where some of them are packed."""
    numbers = [number for number in values.values() if isinstance(number, int) and number > 0]
    plain = values.keys() <= _NOT_PACKED and len(numbers) == len(values)
    total = sum(numbers)
    return total if plain and total <= limit_of("parameters") else 0


def _values(shape: object) -> int:
    if not isinstance(shape, list) or len(shape) > 8:  # noqa: PLR2004  (no tensor of a model has more dimensions)
        raise MalformedModel("a tensor in the safetensors header has no shape")
    total = 1
    for size in shape:
        if not isinstance(size, int) or not 0 <= size <= limit_of("parameters"):
            raise MalformedModel("a tensor in the safetensors header has an impossible shape")
        total *= size
    if total > limit_of("parameters"):
        raise MalformedModel("a tensor in the safetensors header is larger than any model")
    return total
