"""What is known of a resource's model, and from where."""

import hashlib
from dataclasses import dataclass
from typing import Literal

import orjson

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import models_of
from llmservice.errors import InvalidSpec
from llmservice.models.claim_uri import claim_uri
from llmservice.models.model_facts import NOTHING_KNOWN, ModelFacts
from llmservice.models.plausible import implausible

ModelSourceName = Literal["spec", "inspection", "catalogue", "nothing"]


@dataclass(frozen=True, slots=True)
class KnownModel:
    """The facts of a model and their source. `note` says why nothing is known where that needs saying."""

    facts: ModelFacts = NOTHING_KNOWN
    source: ModelSourceName = "nothing"
    note: str = ""


def known_model(spec: LLMServiceSpec, catalogue: Catalogue) -> KnownModel:
    """What the resource says of its model, else what the catalogue knows; raises InvalidSpec for what cannot be true.

    The catalogue knows repositories of the hub by `owner/name`, at any revision.
    """
    if spec.model.facts is not None:
        facts = spec.model.facts.as_facts()
        if problem := implausible(facts):
            raise InvalidSpec(Reason.INVALID_SPEC, f"{problem}; correct it, or omit it", field="spec.model.facts")
        return KnownModel(facts, "spec")
    repository = repository_of(spec.model.uri)
    found = models_of(catalogue).facts(repository) if repository else None
    return KnownModel() if found is None else KnownModel(found, "catalogue")


def what_is_asked(spec: LLMServiceSpec) -> str:
    """A short text for the model that an inspection looks at: the same as long as the resource names the same one."""
    asked = [spec.model.uri, spec.model.revision, spec.model.file, spec.quantization]
    return hashlib.blake2b(orjson.dumps(asked), digest_size=8).hexdigest()


def repository_of(uri: str) -> str:
    """`owner/name` of a model of the hub, or of one in a cache of the hub on a claim; empty for one from elsewhere."""
    if place := claim_uri(uri):
        return place.repository
    return "" if "://" in uri and not uri.startswith("hf://") else uri.removeprefix("hf://")
