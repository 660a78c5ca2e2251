"""The observed state of one LLMService: the input of a reconcile."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from llmservice.converging.preparation import Preparation
from llmservice.objects.references import Manifest, Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Everything known about one LLMService's surroundings.

    `children` holds the objects this resource controls (owner UID checked); `taken` those that have a name it needs and
    another owner. `pods` are the pods of its workload, `updated` those of its current template. `log_tails` maps a pod
    name to the last lines (text) of its crashed container; `preparations` to how far the kubelet is with volumes and
    sandbox of a pod; `absent` maps each kind that the cluster lacks to what the API server said. `requeue_seconds` is
    when logs and Events should be read again; None when nothing is pending.
    """

    children: Mapping[Ref, Manifest] = field(default_factory=dict)
    taken: Mapping[Ref, Manifest] = field(default_factory=dict)
    pods: tuple[Manifest, ...] = ()
    workers: tuple[Manifest, ...] = ()
    updated: tuple[Manifest, ...] = ()
    log_tails: Mapping[str, str] = field(default_factory=dict)
    preparations: Mapping[str, Preparation] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    requeue_seconds: float | None = None
