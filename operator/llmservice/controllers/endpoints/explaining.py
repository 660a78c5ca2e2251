"""The endpoint /explain: what the autoscaler of the leader saw and decided last."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llmservice.reconcilers.scaling.explaining import explained
from llmservice.reconcilers.scaling.service_states import ServiceStates


@dataclass(frozen=True, slots=True, kw_only=True)
class Explainer:
    """Answers for one process. Called from the endpoints' thread; `clock` gives seconds since 1970."""

    states: ServiceStates
    leads: Callable[[], bool]
    clock: Callable[[], float] = time.time

    def __call__(self, namespace: str, name: str) -> tuple[int, dict[str, Any]]:
        """HTTP status and JSON; a body with only a `message` ends with the way out."""
        if not self.leads():
            return 503, {"message": "this replica of the operator does not lead: ask the leader"}
        state = self.states.named((namespace, name))
        if state is None:
            return 404, {
                "message": f"{namespace}/{name} is not scaled: check the name, that spec.autoscaling is set, and the "
                "condition Ready; or wait for the first round"
            }
        return 200, explained(state, self.clock())
