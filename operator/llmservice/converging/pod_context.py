"""One pod that is not ready, with everything its checks need."""

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
    """A living pod that is not ready. `log_tail` is the end of the log of the engine's last run."""

    pod: Manifest
    plan: ServicePlan
    log_patterns: Sequence[LogPattern]
    log_tail: str
    preparation: Preparation

    @property
    def engine(self) -> Mapping[str, Any]:
        """The container status of the engine; empty until there is one."""
        return engine_of(self.pod)

    @property
    def waiting(self) -> Mapping[str, Any]:
        """The waiting state of the engine; empty when it is not waiting."""
        return waiting_of(self.engine)

    @property
    def last_end(self) -> Mapping[str, Any]:
        """How the engine terminated last; empty when it never did."""
        return last_end_of(self.engine)
