"""One pod under examination, with what is needed to judge it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmservice.converging.preparation import Preparation
from llmservice.engines.engine import LogPattern
from llmservice.objects.pods import engine_of, last_end_of, waiting_of
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class PodContext:
    """A living pod that is not ready. `log_tail` is the end of what its engine said before it ended."""

    pod: Manifest
    plan: ServicePlan
    log_patterns: Sequence[LogPattern]
    log_tail: str
    preparation: Preparation

    @property
    def engine(self) -> Mapping[str, Any]:
        """The status of its container; empty until there is one."""
        return engine_of(self.pod)

    @property
    def waiting(self) -> Mapping[str, Any]:
        """Why the engine waits; empty when it does not."""
        return waiting_of(self.engine)

    @property
    def last_end(self) -> Mapping[str, Any]:
        """How the engine ended last; empty when it never did."""
        return last_end_of(self.engine)
