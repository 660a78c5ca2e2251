"""What a pod template is made from, kept in annotations of its Deployment: so it can be made again after an edit.

Kept are the part of the spec that pods depend on, and the facts of the plan. They stand where the template stands, are
written together with it, and no status repeats what a user may have put into arguments or variables.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.objects.names import LONGEST_SOURCE, SERVED_SOURCE_ANNOTATION, SOURCE_ANNOTATION, UPDATE_ANNOTATION
from llmservice.objects.references import Manifest
from llmservice.objects.workloads import is_workload
from llmservice.planning.facts import facts_from_text

FOLLOWED = ("autoscaling", "networkPolicy", "replicas", "route", "suspend")
"""Fields of the spec that change no pod: the newest ones hold, whatever the replicas are made from."""
_DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSource:
    """A part of a spec, as JSON, and the text of a plan's facts."""

    spec: Mapping[str, Any]
    facts: str

    def as_text(self) -> str:
        """The value of the annotation; empty when it would be too long."""
        text = _json({"facts": self.facts, "spec": self.spec})
        return text.decode() if len(text) <= LONGEST_SOURCE else ""


def source_of(spec: Mapping[str, Any], facts: str) -> TemplateSource:
    """What the pods of this spec are made from."""
    return TemplateSource(spec={key: value for key, value in spec.items() if key not in FOLLOWED}, facts=facts)


def source_from(text: str) -> TemplateSource | None:
    """The source in an annotation; None when it is none, or its facts are not to be read."""
    try:
        read = orjson.loads(text) if len(text) <= LONGEST_SOURCE else None
    except orjson.JSONDecodeError:
        return None
    if not isinstance(read, dict):
        return None
    spec, facts = read.get("spec"), read.get("facts")
    if not isinstance(spec, dict) or not isinstance(facts, str) or facts_from_text(facts) is None:
        return None
    return TemplateSource(spec=spec, facts=facts)


def digest_of_source(text: str) -> str:
    """Identifies a source; empty for none."""
    return _digest(text.encode()) if text else ""


def digest_of_request(service: LLMService) -> str:
    """Identifies what a resource asks of its pods: another digest is another try.

    Fields that say what holds anyway do not count, so that a field that a newer schema fills in is no edit.
    """
    spec = service.spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    update = service.metadata.annotations.get(UPDATE_ANNOTATION, "")
    return _digest(_json({**source_of(spec, "").spec, UPDATE_ANNOTATION: update}))


def made_from(deployment: Manifest | None) -> str:
    """The source of a Deployment's template as it stands in its annotation; empty when it says nothing."""
    return _annotation(deployment, SOURCE_ANNOTATION)


def served_source(deployment: Manifest | None, digest: str) -> str:
    """The source with this digest, of the current template or of the one that served before; empty without either."""
    kept = (made_from(deployment), _annotation(deployment, SERVED_SOURCE_ANNOTATION))
    return next((text for text in kept if text and digest_of_source(text) == digest), "")


def with_sources(manifests: Iterable[Manifest], text: str, live: Manifest | None, served: str) -> tuple[Manifest, ...]:
    """The manifests with the source of the template on the Deployment, and that of the one that served before it.

    `served` is the digest of what served last. Without a change of the template both stay as they are.
    """
    before = made_from(live)
    if before == text or digest_of_source(before) != served or not served:
        before = _annotation(live, SERVED_SOURCE_ANNOTATION)
    sources = {SOURCE_ANNOTATION: text, SERVED_SOURCE_ANNOTATION: before if before != text else ""}
    kept = {name: value for name, value in sources.items() if value}
    return tuple(_annotated(each, kept) if is_workload(each) else each for each in manifests)


def _annotated(manifest: Manifest, annotations: Mapping[str, str]) -> Manifest:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), **annotations}}}


def _annotation(deployment: Manifest | None, name: str) -> str:
    annotations = (deployment["metadata"].get("annotations") or {}) if deployment else {}
    return str(annotations.get(name, ""))


def _json(value: Mapping[str, Any]) -> bytes:
    """The same text for the same value; empty for what is nested too deeply to be a spec."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return b""


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()
