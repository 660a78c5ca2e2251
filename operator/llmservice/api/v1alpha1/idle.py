"""When a service that nobody asks anything goes to zero replicas."""

from typing import Annotated

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel


class Idle(ApiModel):
    """For minReplicas 0: how long a service is kept that nobody asks anything."""

    after_seconds: Annotated[int, Field(strict=True, ge=60, le=86_400)] | None = None
    """Seconds without a request after which no replica runs. Omitted: ten times what a start takes, 300 to 3600; 600
    until a start was measured."""
