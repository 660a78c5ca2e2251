"""The metric names of one engine version, by the role that the autoscaler reads them for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.metrics import METRIC_ROLES

Names = tuple[str, ...]
"""Series in the notation of `catalog/metrics.py`; of several the first that is exported counts.

Empty: the engine has none.
"""

_BASIC = frozenset(
    {"running", "waiting", "kv_use", "prompt_tokens", "generated_tokens", "finished", "steps", "preemptions"}
)
"""Roles that a row may omit: an engine exports them in every version or in none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricNames:
    """The metric names of each role.

    Several label sets of one name (data-parallel engines, reasons, models) are summed; of `kv_use` the mean is taken.
    Names of histograms come without `_bucket`, `_sum` and `_count`. `created_on_first_use` are roles whose series
    the engine creates with the first event: absent means zero. Any other absent series is unknown. `substitutes` are
    sentences, by role: what an engine does not export, and what is used instead.
    """

    running: Names = ()
    """Running requests (gauge)."""
    waiting: Names = ()
    """Requests queued in the engine (gauge)."""
    kv_use: Names = ()
    """Share of the KV cache in use, 0–1 (gauge)."""
    prompt_tokens: Names = ()
    """Prompt tokens processed (counter)."""
    generated_tokens: Names = ()
    """Generated tokens (counter)."""
    finished: Names = ()
    """Requests that ended (counter)."""
    rejected: Names = ()
    """Requests rejected for lack of capacity: they count as demand (counter)."""
    finished_prompt_tokens: Names = ()
    """Prompt tokens of finished requests (counter)."""
    finished_generated_tokens: Names = ()
    """Generated tokens of finished requests (counter)."""
    ttft: Names = ()
    """Seconds until the first token, per request (histogram)."""
    tpot: Names = ()
    """Seconds per output token, per finished request (histogram)."""
    inter_token_latency: Names = ()
    """Seconds between two tokens (histogram, of which only count and sum are read)."""
    slots: Names = ()
    """Concurrent requests (capacity)."""
    steps: Names = ()
    """Steps computed, parts of prompts too (counter): it tells an engine that hangs from one with a long answer."""
    preemptions: Names = ()
    """Running requests put back into the queue for lack of KV cache, to be computed again (counter)."""
    created_on_first_use: frozenset[str] = frozenset()
    substitutes: Mapping[str, str] = field(default_factory=dict, hash=False)

    def names(self, role: str) -> Names:
        """The names of a role."""
        found: Names = getattr(self, role)
        return found


def metric_names_of(
    version: EngineVersion,
    known: Mapping[str, Names],
    *,
    absent: Mapping[str, str],
    present: Mapping[str, str],
    created_on_first_use: frozenset[str] = frozenset(),
) -> MetricNames:
    """The metric names of one version: the name in its row, then the `known` names of other versions.

    `absent` and `present` are sentences about roles that this version does not export, and that it does.
    """
    names: dict[str, Any] = {role: _names(role, version, known) for role in METRIC_ROLES}
    notes = {role: text for role in METRIC_ROLES if (text := (present if names[role] else absent).get(role))}
    return MetricNames(**names, created_on_first_use=created_on_first_use, substitutes=notes)


def _names(role: str, version: EngineVersion, known: Mapping[str, Names]) -> Names:
    if role not in version.metrics and role not in _BASIC:
        return ()
    named = (version.metrics[role],) if role in version.metrics else ()
    return tuple(dict.fromkeys((*named, *known.get(role, ()))))
