"""How long a start may take before it counts as failed: a budget that is told, and never ends a start."""

import math

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.support import number_of
from llmservice.engines.engine import ModelSource
from llmservice.models.weights import weight_bytes
from llmservice.planning.decided import Decided, default
from llmservice.planning.facts import Facts

_LOAD_SECONDS = 900
_LOAD_ANY_SECONDS = 3600
"""Of a model whose size nobody knows: 15 minutes ended starts that worked, an hour is enough for 400 GB."""
_SINCE = 2
"""The render version from which on that holds; before it was as short as for any model."""
_LEAST_DOWNLOAD_SECONDS = 1800
"""A slow link to the hub must not end a start that works."""
_DOWNLOAD_SECONDS = 2700
_BEFORE_START_SECONDS = 900
_GB = 10**9
_CLAIM_SECONDS_PER_GB = 8.0
"""A gp3 volume as it comes reads 125 MiB/s: 141 GB take 1,076 s."""
_DOWNLOAD_SECONDS_PER_GB = 10.0
"""At 100 MB/s."""
_LOAD_SECONDS_PER_GB = 3.0
_WARM_UP_SECONDS = 180
_OLD_DEVICE_SECONDS = 300
"""Below compute capability 8.0: a 2080 Ti took 327 s to begin."""
_FIRST_MODERN = (8, 0)
_MARGIN = 1.5
_LEARNED_MARGIN = 3
"""For a volume or a network that is three times slower than ever seen."""
_LONGEST_SECONDS = 86_400
"""As for the field: whatever is said of a model's size."""
_PATIENT_SINCE = 3
"""The render version from which on the kubelet waits longer than any budget; before it ended a start that took more."""
_PATIENCE_SECONDS = 2 * _LONGEST_SECONDS
"""Kubernetes has no probe that waits for ever, and one that fails ends the engine."""


def startup_seconds(spec: LLMServiceSpec, source: ModelSource, facts: Facts) -> Decided[int]:
    """The budget from container start to ready, with the reason when it is a default.

    Of a model whose size is known: reading from where it lies, loading, warming up, and half as much again. Else it
    suits large ones; a crash is detected at once whatever the budget. Three times the slowest good start that was seen
    when the facts were chosen, where that is longer.
    """
    if spec.startup.timeout_seconds is not None:
        return Decided(spec.startup.timeout_seconds)
    size = facts.model.file_bytes or weight_bytes(facts.model, spec.quantization)
    seconds, reason = _of_size(size, source, facts) if size else _of_any(source, facts)
    learned = min(_LONGEST_SECONDS, _LEARNED_MARGIN * (facts.slowest_start or 0))
    if learned > seconds:
        seconds, reason = learned, f"three times the slowest start that was seen, {facts.slowest_start} s"
    return Decided(seconds, default("startup.timeoutSeconds", seconds, reason))


def _of_size(size: int, source: ModelSource, facts: Facts) -> tuple[int, str]:
    mounted = source.is_mounted
    least = _LOAD_SECONDS if mounted else _LEAST_DOWNLOAD_SECONDS
    read = size / _GB * (_CLAIM_SECONDS_PER_GB if mounted else _DOWNLOAD_SECONDS_PER_GB)
    begin = _WARM_UP_SECONDS + (_OLD_DEVICE_SECONDS if _is_old(facts) else 0)
    seconds = min(_LONGEST_SECONDS, max(least, math.ceil(_MARGIN * (read + size / _GB * _LOAD_SECONDS_PER_GB + begin))))
    where = "from a volume at 125 MB/s" if mounted else "over the network at 100 MB/s"
    return seconds, f"{size / _GB:.0f} GB {where}, loading and warming up, and half as much again"


def _of_any(source: ModelSource, facts: Facts) -> tuple[int, str]:
    if source.is_mounted and facts.render_version < _SINCE:
        return _LOAD_SECONDS, "loading from a volume takes about 3 s per GB, plus minutes to warm up"
    if source.is_mounted:
        return _LOAD_ANY_SECONDS, "enough to load 400 GB from a volume at 125 MB/s; a crash is detected at once"
    reason = "enough to download 200 GB at 100 MB/s and load them; a crash is detected at once in any case"
    return _LOAD_SECONDS + _DOWNLOAD_SECONDS, reason


def _is_old(facts: Facts) -> bool:
    number = number_of(facts.accelerator.capability) if facts.accelerator else None
    return number is not None and number < _FIRST_MODERN


def probe_seconds(budget: int, facts: Facts) -> int:
    """How long the startup probe may fail before the kubelet starts the engine anew."""
    return _PATIENCE_SECONDS if facts.render_version >= _PATIENT_SINCE else budget


def progress_deadline_seconds(startup: int, grace: int) -> int:
    """The progress deadline of a rollout.

    The old replica stops first, a node may have to be added and the image pulled; only then the startup budget begins.
    """
    return grace + _BEFORE_START_SECONDS + startup
