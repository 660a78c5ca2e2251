"""How one version of an engine exports what the autoscaler asks for: roles → metric names. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Names = tuple[str, ...]
"""Metric names, fall-backs in order: the first that an engine exports counts. Empty: the engine has none.

| written                            | read                                                                    |
|------------------------------------|-------------------------------------------------------------------------|
| `tgi_queue_size`                   | the values of all its label sets together                               |
| `tgi_request_failure{err="full"}`  | only the label sets that have all these labels                          |
| `vllm:cache_config_info[blocks]`   | the number written in this label (an info metric: its value is always 1) |
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The metric names of each role, and what to know of them.

    Several label sets of one name (data-parallel engines, reasons, models) are added up; of `kv_use` and
    `kv_block_tokens` the mean is taken. Names of histograms come without `_bucket`, `_sum` and `_count`.

    `created_on_first_use` are roles whose absence means zero: the engine makes the series when the first event comes.
    Everything else that is absent is unknown. `substitutes` are sentences about what is missing and what stands in for
    it, by role.
    """

    running: Names = ()
    """Requests being worked on (gauge)."""
    waiting: Names = ()
    """Requests queued in the engine (gauge)."""
    kv_use: Names = ()
    """Share of the KV cache in use, 0–1 (gauge)."""
    prompt_tokens: Names = ()
    """Prompt tokens worked off (counter)."""
    cached_prompt_tokens: Names = ()
    """Those of `prompt_tokens` that came from a prefix cache and were not computed (counter)."""
    generated_tokens: Names = ()
    """Generated tokens (counter)."""
    finished: Names = ()
    """Requests that ended, for whatever reason (counter)."""
    rejected: Names = ()
    """Requests refused for lack of room: demand all the same (counter)."""
    preemptions: Names = ()
    """Requests set back for lack of KV cache (counter)."""
    finished_prompt_tokens: Names = ()
    """Prompt tokens of finished requests (counter)."""
    finished_generated_tokens: Names = ()
    """Generated tokens of finished requests (counter)."""
    first_token: Names = ()
    """Seconds until the first token, per request (histogram)."""
    output_token: Names = ()
    """Seconds per output token, per finished request (histogram)."""
    token_gap: Names = ()
    """Seconds between two tokens (histogram; count and sum are enough)."""
    slots: Names = ()
    """Requests worked on at once (capacity)."""
    kv_blocks: Names = ()
    """Blocks of the KV cache (capacity)."""
    kv_block_tokens: Names = ()
    """Tokens in one block (capacity)."""
    created_on_first_use: frozenset[str] = frozenset()
    substitutes: Mapping[str, str] = field(default_factory=dict, hash=False)
