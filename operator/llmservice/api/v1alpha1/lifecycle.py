"""How replicas are replaced, started and stopped."""

from typing import Annotated, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel


class Rollout(ApiModel):
    """How a change reaches the replicas."""

    strategy: Literal["Auto", "Replace", "Surge"] | None = None
    """Replace: the old replica goes first, so that one device is enough. Surge: the new replica comes first (default on
    CPU). Auto: Surge while a matching device is free, else Replace (default with GPUs). Omitted: computed."""
    allow_downtime: Annotated[bool, Field(strict=True)] = True
    """False: a change waits, and says so, while it would leave no replica to serve."""
    on_failure: Literal["Rollback", "Hold"] = "Rollback"
    """What follows when no replica of a change becomes ready. Rollback: the replicas go back to what served last, until
    the next edit. Hold: the change stays, so that its failing replicas can be looked at."""


class Startup(ApiModel):
    """How long a replica may take to start."""

    timeout_seconds: Annotated[int, Field(strict=True, ge=10, le=86400)] | None = None
    """Seconds from container start, downloading and loading included, after which a start that goes on is told as
    StartupTimedOut and a change that does not start is rolled back. Nothing is restarted, and no start ended. Omitted:
    computed."""


class Drain(ApiModel):
    """How a replica leaves."""

    timeout_seconds: Annotated[int, Field(strict=True, ge=0, le=3600)] | None = None
    """Seconds that running requests get to finish before the engine is stopped. Omitted: computed."""
