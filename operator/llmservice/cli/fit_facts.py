"""The facts of a model that a command is given or finds in the catalogue."""

from typing import BinaryIO

import orjson

from llmservice.catalog.catalogue import Catalogue, nearest
from llmservice.catalog.loader import models_of
from llmservice.catalog.rows import typed
from llmservice.errors import InvalidCatalogue, UsageError
from llmservice.models.inspection_answer import with_field_names
from llmservice.models.model_facts import ModelFacts
from llmservice.models.plausible import implausible

_MOST_BYTES = 64 * 1024


def facts_of(model: str, file: BinaryIO | None, catalogue: Catalogue) -> ModelFacts:
    """The facts in the file, else those of the catalogue; raises UsageError naming the ways out."""
    if file is not None:
        return facts_in_file(file)
    if not model:
        raise UsageError("NoModel", "name the model, or give its numbers with --facts FILE", field="--model")
    models, name = models_of(catalogue), model.removeprefix("hf://").partition("@")[0]
    found = models.facts(name)
    if found is None:
        near = nearest(name, models.names)
        hint = f" (similar: {', '.join(near)})" if near else ""
        message = (
            f"{model[:100]} is not in the model catalogue{hint}; correct it, or give --facts FILE, which "
            f"`llmservice inspect {name[:100]} -o json` writes"
        )
        raise UsageError("UnknownModel", message, field="--model")
    return found


def facts_in_file(file: BinaryIO) -> ModelFacts:
    """The facts in a file, as `llmservice inspect -o json` writes them, or they alone; raises UsageError."""
    text = file.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise UsageError("InvalidFacts", f"{file.name}: has more than {_MOST_BYTES} bytes; give facts", field="--facts")
    try:
        facts = typed(ModelFacts, with_field_names(_facts_of_answer(orjson.loads(text))), file.name)
    except (orjson.JSONDecodeError, InvalidCatalogue) as error:
        raise UsageError("InvalidFacts", str(error), field="--facts") from error
    if problem := implausible(facts):
        raise UsageError("InvalidFacts", f"{file.name}: {problem}; correct it", field="--facts")
    return facts


def _facts_of_answer(document: object) -> object:
    """The facts themselves; what `llmservice inspect` writes holds them beside the model."""
    return document.get("facts", document) if isinstance(document, dict) else document
