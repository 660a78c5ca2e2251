"""Which revision served last and which one failed, as types: parts of `status.rollout`."""

from typing import Annotated

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel

ObservedGeneration = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Digest = Annotated[str, Field(max_length=32)]


class ServedRevision(ApiModel):
    """A revision of which replicas served."""

    generation: ObservedGeneration
    """metadata.generation that was rolled out."""
    digest: Digest
    """Digest of what its pod template was made from, an annotation of the Deployment."""


class WaitingRevision(ApiModel):
    """A revision of which no replica is made yet."""

    generation: ObservedGeneration
    """metadata.generation that waits."""
    facts: Annotated[str, Field(max_length=16384)] = ""
    """What it will be made from (JSON): kept, so that the same generation is always planned alike."""


class FailedRevision(ApiModel):
    """A revision that did not become ready within its budget, or crashed for a reason that only an edit can remove."""

    generation: ObservedGeneration
    """metadata.generation that failed."""
    digest: Digest
    """Digest of what was asked for: the spec without the fields that change no pod."""
    reason: Annotated[str, Field(max_length=128)]
    """Why it failed, in one word of a closed list."""
    message: Annotated[str, Field(max_length=1024)]
    """Why it failed, in a sentence that ends with what to do."""
    at: Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]
    """When it was given up."""
