"""`status.adapters` and the condition AdaptersLoaded: which replicas have which adapters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.planning.service_plan import ServicePlan

_LONGEST = 256
_ALL = ""
"""The name under which a replica fails that cannot be asked at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedAdapters:
    """What is known of one ready replica: `settled` once it was asked, with what failed, by the adapter's name."""

    pod: str
    settled: bool = False
    failures: Mapping[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Whether it has the adapter."""
        return self.settled and not {name, _ALL} & self.failures.keys()


def adapters_condition(plan: ServicePlan, replicas: Sequence[LoadedAdapters]) -> Condition | None:
    """The condition; None where adapters do not change while replicas run, and while none is ready."""
    if not plan.live_adapters or not replicas:
        return None
    for replica in replicas:
        for name, why in sorted(replica.failures.items()):
            what = f"adapter {name}" if name else "adapters"
            return _condition(Reason.ADAPTER_REJECTED, f"{what} of {replica.pod}: {why}; correct spec.adapters")
    having = sum(replica.settled for replica in replicas)
    if having < len(replicas):
        return _condition(Reason.ADAPTERS_LOADING, f"{having} of {len(replicas)} replicas have all adapters: wait")
    return _condition(Reason.ADAPTERS_LOADED, f"{len(plan.adapters)} adapters on each of {having} replicas")


def adapters_status(plan: ServicePlan, replicas: Sequence[LoadedAdapters], ready: int) -> list[dict[str, Any]]:
    """What `status.adapters` says: of each adapter how many ready replicas have it, and why one has not."""
    return [_one(each.name, plan, replicas, ready) for each in plan.adapters]


def adapter_names(plan: ServicePlan, replicas: Sequence[LoadedAdapters]) -> list[str]:
    """Names by which clients may ask for adapters: of those that change while replicas run, what all of them have."""
    if not plan.adapters_named:
        return []
    if not plan.live_adapters:
        return [each.name for each in plan.adapters]
    return [each.name for each in plan.adapters if replicas and all(replica.has(each.name) for replica in replicas)]


def _one(name: str, plan: ServicePlan, replicas: Sequence[LoadedAdapters], ready: int) -> dict[str, Any]:
    having = sum(replica.has(name) for replica in replicas) if plan.live_adapters else ready
    why = next((said for replica in replicas if (said := replica.failures.get(name))), "")
    return {"name": name, "readyReplicas": having, **({"message": why[:_LONGEST]} if why else {})}


def _condition(reason: Reason, message: str) -> Condition:
    return Condition(
        type=ConditionType.ADAPTERS_LOADED, status=reason is Reason.ADAPTERS_LOADED, reason=reason, message=message
    )
