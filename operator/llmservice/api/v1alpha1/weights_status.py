"""What the status knows of a model's files on a claim."""

from typing import Annotated

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel

_Name = Annotated[str, Field(max_length=253)]
_Count = Annotated[int, Field(strict=True, ge=0, le=2**53)]


class WeightsStatus(ApiModel):
    """The model's files, complete and checked on the claim of `spec.model.cache`."""

    claim: _Name
    """Name of the claim."""
    claim_uid: Annotated[str, Field(max_length=64)] = ""
    """UID of the claim: on another one of its name they are downloaded again."""
    key: Annotated[str, Field(max_length=64)]
    """Which download: model, revision and files. On the claim `.llmservice/KEY.json` describes it."""
    path: Annotated[str, Field(max_length=2048)]
    """What the engine loads, relative to the root of the claim."""
    commit: Annotated[str, Field(max_length=64)] = ""
    """Commit of the hub. Empty: of a bucket."""
    bytes: _Count = 0
    """Bytes of the files."""
    files: _Count = 0
    """How many files."""
    note: Annotated[str, Field(max_length=512)] = ""
    """What to know of the claim: that it is for one node, for example."""
    completed_at: Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})] | None = None
    """When they were complete."""
