"""One released version of an engine, as a row of `engines/NAME.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from llmservice.catalog.support import Support


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineVersion:
    """One version of an engine.

    `images` maps a variant (`cuda`, `rocm`, `cpu`, …) to a pinned image reference. `user` and `group` are the numeric
    ids the image runs under. `flags` holds every flag this version knows (empty: not recorded), `removed` maps a flag
    that older versions had to its replacement. `max_model_len` (tokens of a request to an unknown model, 0: the engine
    finds out) and `max_num_seqs` (requests) are the defaults for fields that a resource omits; with `fits_context` the
    engine shortens the model's context length to what its memory holds. `quantizations` are the names that
    `spec.quantization` takes besides `auto`; those in `on_load` are applied to an unquantized checkpoint while it
    loads, by the engine's own name for them. `metrics` maps roles (`metrics.py`) to the series under which this version
    exports them.
    `support` maps a variant to what its image runs on.
    """

    engine: str
    version: str
    images: Mapping[str, str]
    user: int
    group: int
    max_model_len: int
    max_num_seqs: int
    flags: frozenset[str] = frozenset()
    removed: Mapping[str, str] = field(default_factory=dict)
    quantizations: tuple[str, ...] = ()
    on_load: Mapping[str, str] = field(default_factory=dict)
    fits_context: bool = False
    metrics: Mapping[str, str] = field(default_factory=dict)
    support: Mapping[str, Support] = field(default_factory=dict)

    def knows(self, flag: str) -> bool:
        """Whether this version has a flag; a version without recorded flags is assumed to have all."""
        return not self.flags or flag in self.flags

    def on(self, variant: str, capability: str) -> "EngineVersion":
        """This version with only what matters of `support` on one device; `capability` is empty when unknown."""
        support = self.support.get(variant)
        return replace(self, support={variant: support.against(capability)} if support else {})
