"""GGUF files: which one a resource means, and which quantization its name states."""

from collections.abc import Collection

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import ModelSource
from llmservice.errors import InvalidSpec
from llmservice.untrusted.patterns import compiled

_SEPARATORS = str.maketrans("-/", "..")
_DYNAMIC = "UD-"
_TAG = compiled(
    r"([A-Za-z0-9]{1,12}-)?"
    r"(I?Q[1-8](_[A-Z0-9]{1,4}){1,3}|TQ[1-3]_[0-9]|BF16|F16|F32|FP16|(MX|NV)FP[468](_[A-Z0-9]{1,8}){0,2})"
)


def is_tag(name: str) -> bool:
    """Whether a name has the form of a published GGUF quantization, known or not: `UD-IQ4_XS`, `Q4_K_XL`, `i1-Q3_K_S`.

    Publishers mix types in their own ways and name the files after them; the repository decides which there are.
    """
    return _TAG.matches(name)


def quantization_in(name: str, known: Collection[str]) -> str:
    """The quantization a file or repository name states, as published; empty when it states none.

    `Qwen2.5-7B-Q4_K_M.gguf` → `Q4_K_M`; `Qwen3-8B-UD-Q4_K_XL-00001-of-00002.gguf` → `UD-Q4_K_XL`.
    """
    words = name.upper().translate(_SEPARATORS).split(".")
    for before, word in zip(["", *words], words, strict=False):
        stated = _DYNAMIC + word if before + "-" == _DYNAMIC else word
        if stated in known:
            return stated
    return ""


def one_file(model: ModelSource) -> str:
    """The path of the one file to load from a volume; raises InvalidSpec when the resource does not name one."""
    if model.path.endswith(".gguf"):
        if model.file:
            raise InvalidSpec(
                Reason.INVALID_SPEC,
                "spec.model.uri already names a file; remove one of the two",
                field="spec.model.file",
            )
        return model.path
    if not model.file:
        raise InvalidSpec(
            Reason.INVALID_SPEC,
            f"{model.path} is a folder; name the GGUF file in it (the first part of a split model)",
            field="spec.model.file",
        )
    return f"{model.path}/{whole_name(model.file)}"


def whole_name(file: str) -> str:
    """The file name; raises InvalidSpec for a glob."""
    if any(letter in file for letter in "*?["):
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            f"{file} is a glob, but this engine loads one file; write its full name, or omit it for an hf:// uri and "
            "set spec.quantization",
            field="spec.model.file",
        )
    return file
