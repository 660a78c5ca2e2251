"""How long replicas take to start, by phases: `status.startup`."""

from typing import Annotated, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel

Seconds = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
Name = Annotated[str, Field(max_length=253)]
PhaseName = Literal["scheduled", "volumes", "image", "load"]


class StartPhases(ApiModel):
    """Seconds of each phase that is over. A phase that nothing tells is left out, and its time is in another one."""

    pod: Name
    """The replica."""
    revision: Name
    """Its ReplicaSet: another one for each rollout."""
    scheduled_seconds: Seconds | None = None
    """From created until it had a node."""
    volumes_seconds: Seconds | None = None
    """Until its volumes were mounted and it had a network."""
    image_seconds: Seconds | None = None
    """Until the engine's container was started: pulling the image, init containers that others injected."""
    download_seconds: Seconds | None = None
    """Downloading the model, by the engine's log."""
    load_seconds: Seconds | None = None
    """Until the weights were in memory; the beginning of the engine, and what its log does not tell apart, included."""
    compile_seconds: Seconds | None = None
    """Compiling kernels and graphs, by the engine's log."""
    warm_up_seconds: Seconds | None = None
    """Until it was ready: KV cache, CUDA graphs, first run."""


class RunningStart(StartPhases):
    """A start that is under way."""

    phase: PhaseName
    """The phase it is in; all that the engine does before it is ready counts as load."""


class EndedStart(StartPhases):
    """A start that ended well."""

    total_seconds: Seconds
    """From created to ready: the sum of the phases."""


class StartupStatus(ApiModel):
    """How long a replica takes to start. One start is followed at a time; what it took, the next one is expected to."""

    current: RunningStart | None = None
    """The start that is followed, while one is under way."""
    last: EndedStart | None = None
    """The last start that was followed to its end."""
    slowest_seconds: Seconds | None = None
    """Of the starts of this model that ended well, the longest time from the start of the engine's container to ready.
    The next edit gives starts three times as long, where the computed spec.startup.timeoutSeconds is less.
    """
    model: Annotated[str, Field(max_length=1024)] = ""
    """Model of those starts (spec.model.uri)."""
    announced_revision: Name = ""
    """The rollout that Events have told about, once each of Starting, Loading and Started."""
    announced: Literal["", "Starting", "Loading", "Started"] = ""
    """The last one of them."""
