"""Which of a repository's GGUF models is meant: the named one, that of a quantization, or the only one."""

from collections.abc import Mapping

from llmservice.models.weight_files import gguf_models

_MOST_NAMED = 8
_USUAL = ("Q4_K_M", "Q8_0")
_SEPARATORS = str.maketrans("-/", "..")


class NoSuchGguf(ValueError):
    """No file, or several; the message names those that are there."""


def chosen_gguf(sizes: Mapping[str, int], file: str, quantization: str = "") -> str:
    """The file of the model, or its first part; raises NoSuchGguf.

    Without `file`, of several models the first whose name states the quantization, as a word in any case; `auto` is
    llama.cpp's own choice: Q4_K_M, else Q8_0, else the first (b11312: common/download.cpp, find_best_model).
    """
    models = gguf_models(sizes)
    wanted = file or _of_quantization(models, quantization)
    if wanted in sizes and wanted.endswith(".gguf"):
        return wanted
    if not wanted and len(models) == 1:
        return models[0]
    more = f" and {len(models) - _MOST_NAMED} more" if len(models) > _MOST_NAMED else ""
    there = f"there are {', '.join(models[:_MOST_NAMED])}{more}" if models else "there is no GGUF file at all"
    what = f"{wanted} is no GGUF file that is there" if wanted else "several GGUF files, and none is named"
    raise NoSuchGguf(f"{what}: {there}")


def _of_quantization(models: tuple[str, ...], quantization: str) -> str:
    """Empty where no name states it."""
    if not quantization:
        return ""
    asked = _USUAL if quantization == "auto" else (quantization,)
    found = (name for wanted in asked for name in models if f".{_words(wanted)}." in f".{_words(name)}.")
    return next(found, models[0] if models and quantization == "auto" else "")


def _words(name: str) -> str:
    return name.upper().translate(_SEPARATORS)
