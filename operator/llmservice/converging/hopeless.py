"""Whether replicas fail to start from a cause that no time removes, so that nobody need wait for the deadline.

`giving_up.py` decides later and by more whether a revision is taken back: that undoes a change, this only tells.
"""

from collections.abc import Sequence

from llmservice.api.v1alpha1.conditions import ConditionType
from llmservice.converging.conditions import condition_in
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.progress import Progress
from llmservice.converging.situation import Status
from llmservice.objects.pods import engine_of, has_started, is_living, is_ready
from llmservice.objects.references import Manifest


def is_hopeless(
    progress: Progress, updated: Sequence[Manifest], diagnosis: Diagnosis | None, before: Status, generation: int
) -> bool:
    """Whether the starts that failed prove that this generation needs an edit, or another deed.

    `updated` are the pods of the current template, `diagnosis` what is wrong with them and `before` the status as it
    stands: it must have said the same of the crash before. A replica that serves leaves hope, and so does a cause that
    may heal.
    """
    if diagnosis is None or diagnosis.self_healing or diagnosis.uncertain or not progress.seen:
        return False
    if any(map(is_ready, updated)):
        return False
    repeated = not diagnosis.failed_starts or _is_said(diagnosis, before, generation)
    return repeated and any(_failed(pod, diagnosis.failed_starts) for pod in updated)


def _is_said(diagnosis: Diagnosis, before: Status, generation: int) -> bool:
    """Whether the status gives the same reason for the same generation already."""
    same = before.get("observedGeneration") == generation
    return same and bool(condition_in(before, ConditionType.READY).get("reason") == diagnosis.reason)


def _failed(pod: Manifest, starts: int) -> bool:
    """Whether so many starts of the engine have failed: the kubelet counts a restart for each but the first."""
    engine = engine_of(pod)
    return is_living(pod) and not has_started(engine) and int(engine.get("restartCount") or 0) >= starts - 1
