"""What is there: the state one reconcile looks at."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from llmservice.converging.preparation import Preparation
from llmservice.objects.references import Manifest, Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Everything known about one LLMService's surroundings.

    `children` holds the objects this resource controls (owner UID checked); `taken` the names it needs that belong
    to somebody else. `pods` are the pods of its workload. `log_tails` maps a pod name to the last lines (text) of its
    crashed container; `preparations` to how far the kubelet is with a pod that waits without a reason of its own.
    `look_again_seconds` is when more of that may be known; None when nothing is waited for.
    """

    children: Mapping[Ref, Manifest] = field(default_factory=dict)
    taken: Mapping[Ref, Manifest] = field(default_factory=dict)
    pods: tuple[Manifest, ...] = ()
    log_tails: Mapping[str, str] = field(default_factory=dict)
    preparations: Mapping[str, Preparation] = field(default_factory=dict)
    look_again_seconds: float | None = None
