"""The one owner of what is remembered of scaled services."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from llmservice.converging.scaling_report import ScalingReport
from llmservice.reconcilers.scaling.service_state import ServiceState
from llmservice.reconcilers.workers import ServiceKey


@dataclass(slots=True)
class ServiceStates:
    """One `ServiceState` for each UID. The operator's loop writes them; the reconciler, /explain and /metrics read.

    /explain and /metrics do so from another thread: they walk a copy, and parts of a state are replaced whole.
    """

    _by_uid: dict[str, ServiceState] = field(default_factory=dict)

    def of(self, uid: str, key: ServiceKey) -> ServiceState:
        """The state of a resource, made when there is none."""
        return self._by_uid.get(uid) or self._by_uid.setdefault(uid, ServiceState(key=key))

    def named(self, key: ServiceKey) -> ServiceState | None:
        """The state of the service with this namespace and name; None before its first round."""
        return next((state for state in self if state.key == key and (state.report or state.evaluation)), None)

    def known(self, uid: str) -> ServiceState | None:
        """The state of a resource; None when there is none."""
        return self._by_uid.get(uid)

    def report(self, uid: str) -> ScalingReport | None:
        """What the status is to say; None before the first round."""
        state = self.known(uid)
        return state.report if state else None

    def forget(self, uid: str) -> None:
        """Drop what belongs to a resource that is gone or no longer scaled."""
        self._by_uid.pop(uid, None)

    def forget_all(self) -> None:
        """Drop everything: what the statuses hold counts."""
        self._by_uid.clear()

    def __iter__(self) -> Iterator[ServiceState]:
        """Copied in one step, so that it may be walked while the loop works."""
        return iter([*self._by_uid.values()])
