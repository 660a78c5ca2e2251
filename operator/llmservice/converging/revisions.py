"""Which revision of a resource is in force: the newest, or the one that served before it failed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.template_source import FOLLOWED, digest_of_request, served_source, source_from, source_of
from llmservice.errors import InvalidSpec
from llmservice.objects.names import UPDATE_ANNOTATION
from llmservice.objects.references import Manifest
from llmservice.planning.facts import facts_from_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The generation that served last, and the digest of what its pod template was made from."""

    generation: int
    digest: str

    def as_status(self) -> dict[str, Any]:
        """The part of the status."""
        return {"generation": self.generation, "digest": self.digest}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The generation that failed, the digest of what it asked for, why, and when it was given up (RFC 3339)."""

    generation: int
    digest: str
    reason: str
    message: str
    at: str

    def as_status(self) -> dict[str, Any]:
        """The part of the status."""
        return {
            "generation": self.generation,
            "digest": self.digest,
            "reason": self.reason,
            "message": self.message,
            "at": self.at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """What is planned now: `body` is a resource to be parsed, `newest` the one that the user wrote.

    After a rollback `body` has the spec and the facts of the revision that served, and `source` is what its template
    was made from; else it is empty. `served` is None before anything was rolled out, and `failed` unless the newest
    revision was given up.
    """

    body: Manifest
    newest: Manifest
    served: Served | None = None
    failed: Failed | None = None
    source: str = ""

    @property
    def generation(self) -> int:
        """The generation that the replicas are made from."""
        newest = int(self.newest["metadata"].get("generation", 0))
        return self.served.generation if self.source and self.served else newest

    def source_with(self, facts: str) -> str:
        """What the template of a plan with these facts is made from; empty when that is too long to be kept."""
        return self.source or source_of(self.newest.get("spec") or {}, facts).as_text()


def gave_up(body: Manifest) -> bool:
    """Whether what the resource asks for was tried and has failed."""
    failed = _failed(body.get("status") or {})
    if failed is None:
        return False
    try:
        return failed.digest == digest_of_request(LLMService.parse(body))
    except InvalidSpec:
        return False


def in_force(body: Manifest, deployment: Manifest | None) -> InForce:
    """What is planned: the newest revision, unless it was given up and it is still known what served before."""
    status = body.get("status") or {}
    served = _served(status)
    if served is None or not gave_up(body):
        return InForce(body=body, newest=body, served=served)
    text = served_source(deployment, served.digest)
    before = as_it_served(body, text)
    if before is None:
        return InForce(body=body, newest=body, served=served)
    return InForce(body=before, newest=body, served=served, failed=_failed(status), source=text)


def as_it_served(body: Manifest, text: str) -> Manifest | None:
    """The resource with what served, and with the newest of the fields that change no pod; None when it is not known.

    The facts stand where planning looks for those of a generation, with the annotation that they were chosen for.
    """
    source = source_from(text)
    facts = facts_from_text(source.facts) if source else None
    if source is None or facts is None:
        return None
    metadata, spec, status = body["metadata"], body.get("spec") or {}, body.get("status") or {}
    annotations = {**(metadata.get("annotations") or {}), UPDATE_ANNOTATION: facts.update}
    plan = {**(status.get("plan") or {}), "generation": metadata.get("generation", 0), "facts": source.facts}
    followed = {key: spec[key] for key in FOLLOWED if key in spec}
    return {
        **body,
        "metadata": {**metadata, "annotations": annotations},
        "spec": {**source.spec, **followed},
        "status": {**status, "plan": plan},
    }


def _served(status: Mapping[str, Any]) -> Served | None:
    """What the status says of it; what is of another form counts as not said."""
    said = _part(status, "served")
    generation, digest = said.get("generation"), said.get("digest")
    if not isinstance(generation, int) or not isinstance(digest, str):
        return None
    return Served(generation=generation, digest=digest) if digest else None


def _failed(status: Mapping[str, Any]) -> Failed | None:
    said = _part(status, "failed")
    generation, words = said.get("generation"), [said.get(key) for key in ("digest", "reason", "message", "at")]
    if not isinstance(generation, int) or not all(isinstance(word, str) for word in words):
        return None
    digest, reason, message, at = map(str, words)
    return Failed(generation=generation, digest=digest, reason=reason, message=message, at=at)


def _part(status: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    rollout = status.get("rollout")
    part = rollout.get(name) if isinstance(rollout, Mapping) else None
    return part if isinstance(part, Mapping) else {}
