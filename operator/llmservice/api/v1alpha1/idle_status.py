"""`status.autoscaling.idle`, as types: of a service that may have no replica."""

from typing import Annotated

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel

_Time = Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]
_Count = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]


class IdleStatus(ApiModel):
    """Of a service with minReplicas 0: whether it sleeps, or when it will."""

    after_seconds: _Count
    """Seconds without a request after which no replica runs."""
    since: _Time | None = None
    """Since when it sleeps. Omitted: it does not."""
    sleeps_at: _Time | None = None
    """When it goes to sleep if no request comes. Omitted: requests came within the last minute."""
    start_seconds: _Count | None = None
    """Seconds that its last start took, from no pod to ready. Omitted: none was measured."""
    held: _Count | None = None
    """Requests that were held for it when this was written. Omitted: none."""
    counted: Annotated[str, Field(max_length=16)] | None = None
    """Digest of what the engines had counted when the last request was over, so that a restarted operator goes on."""
