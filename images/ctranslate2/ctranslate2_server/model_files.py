"""What the files of a converted model say, before anything is loaded.

Formats: `model.bin` begins with its binary version and the name of its specification (ctranslate2/specs/model_spec.py);
`config.json` is CTranslate2's; `tokenizer.json`, `tokenizer_config.json` and `generation_config.json` are those of the
original model, which `ct2-transformers-converter --copy_files` brings along.
"""

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctranslate2_server.errors import UnusableModel

DECODER = "TransformerDecoderSpec"
"""The specification of models that go on with a text; others translate, transcribe or encode."""

_LONGEST_NAME = 256
_LARGEST_FILE = 16 * 2**20
_MOST_TOKENS = 10_000_000
COPIED = "tokenizer.json tokenizer_config.json generation_config.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """A folder with a model. `context` is in tokens, 0 where nothing says it; `end_ids` end an answer."""

    folder: Path
    chat_template: str
    special_tokens: dict[str, str]
    end_ids: tuple[int, ...]
    context: int


def model_files(folder: Path) -> ModelFiles:
    """Read a folder; raises UnusableModel."""
    kind = specification(folder / "model.bin")
    if kind != DECODER:
        raise UnusableModel(
            f"{folder}/model.bin is a {kind}: only decoders ({DECODER}) are served, no translation models"
        )
    if not (folder / "tokenizer.json").is_file():
        raise UnusableModel(f"{folder}/tokenizer.json is missing: convert with --copy_files {COPIED}")
    tokenizer, generation = _document(folder, "tokenizer_config.json"), _document(folder, "generation_config.json")
    return ModelFiles(
        folder=folder,
        chat_template=_template(folder, tokenizer),
        special_tokens={name: text for name in ("bos_token", "eos_token") if (text := _token(tokenizer.get(name)))},
        end_ids=_end_ids(generation.get("eos_token_id")),
        context=_context(tokenizer.get("model_max_length")),
    )


def specification(path: Path) -> str:
    """The name of the specification that a model.bin was written by."""
    try:
        with path.open("rb") as file:
            _version, length = struct.unpack("<IH", file.read(6))
            return file.read(min(length, _LONGEST_NAME)).rstrip(b"\0").decode()
    except (OSError, struct.error, UnicodeDecodeError) as error:
        raise UnusableModel(f"{path} is no model of CTranslate2: convert it with ct2-transformers-converter") from error


def _document(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name
    if not path.is_file():
        return {}
    if path.stat().st_size > _LARGEST_FILE:
        raise UnusableModel(f"{path} is larger than {_LARGEST_FILE} bytes")
    try:
        found = json.loads(path.read_text())
    except ValueError as error:
        raise UnusableModel(f"{path} is no JSON") from error
    return found if isinstance(found, dict) else {}


def _template(folder: Path, tokenizer: dict[str, Any]) -> str:
    """The file of its own that newer models have, else the entry; of several templates the default."""
    path = folder / "chat_template.jinja"
    if path.is_file():
        return path.read_text()
    given = tokenizer.get("chat_template")
    if isinstance(given, list):
        named = {entry.get("name"): entry.get("template") for entry in given if isinstance(entry, dict)}
        given = named.get("default")
    return given if isinstance(given, str) else ""


def _token(given: object) -> str:
    """A special token is a text, or an object with its text."""
    text = given.get("content") if isinstance(given, dict) else given
    return text if isinstance(text, str) else ""


def _end_ids(given: object) -> tuple[int, ...]:
    several = given if isinstance(given, list) else [given]
    return tuple(each for each in several if isinstance(each, int) and not isinstance(each, bool))


def _context(given: object) -> int:
    """Tokenizers without a limit say a number with thirty digits."""
    return int(given) if isinstance(given, (int, float)) and 0 < given <= _MOST_TOKENS else 0
