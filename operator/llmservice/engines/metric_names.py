"""How one version of an engine exports what the autoscaler asks for: roles → metric names. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.metrics import METRIC_ROLES

Names = tuple[str, ...]
"""Series in the notation of `catalog/metrics.py`, fall-backs in order: the first that is exported counts.

Empty: the engine has none.
"""

_BASIC = frozenset({"running", "waiting", "kv_use", "prompt_tokens", "generated_tokens", "finished"})
"""Roles that a row need not spell out: where an engine has them, every version of it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricNames:
    """The names of each role, and what to know of them.

    Several label sets of one name (data-parallel engines, reasons, models) are added up; of `kv_use` the mean is taken.
    Names of histograms come without `_bucket`, `_sum` and `_count`. `created_on_first_use` are roles whose absence
    means zero: the engine makes the series when the first event comes. All else that is absent is unknown.
    `substitutes` are sentences, by role: what an engine does not say, and what stands in for it.
    """

    running: Names = ()
    """Requests being worked on (gauge)."""
    waiting: Names = ()
    """Requests queued in the engine (gauge)."""
    kv_use: Names = ()
    """Share of the KV cache in use, 0–1 (gauge)."""
    prompt_tokens: Names = ()
    """Prompt tokens worked off (counter)."""
    generated_tokens: Names = ()
    """Generated tokens (counter)."""
    finished: Names = ()
    """Requests that ended (counter)."""
    rejected: Names = ()
    """Requests that ended without an answer for lack of room: demand all the same (counter)."""
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
    """Requests worked on at once (capacity)."""
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
    """The metric_names of one version: the name its row gives, then those by which other versions are `known`.

    `absent` and `present` are what to tell of a role that this version does not export, and of one that it does.
    """
    names: dict[str, Any] = {role: _names(role, version, known) for role in METRIC_ROLES}
    told = {role: text for role in METRIC_ROLES if (text := (present if names[role] else absent).get(role))}
    return MetricNames(**names, created_on_first_use=created_on_first_use, substitutes=told)


def _names(role: str, version: EngineVersion, known: Mapping[str, Names]) -> Names:
    if role not in version.metrics and role not in _BASIC:
        return ()
    named = (version.metrics[role],) if role in version.metrics else ()
    return tuple(dict.fromkeys((*named, *known.get(role, ()))))
