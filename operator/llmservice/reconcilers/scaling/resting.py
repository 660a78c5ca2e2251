"""What a service that may sleep is decided from beside its replicas: who holds its requests, and who asked for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from llmservice.autoscaling.idling import Rest, idle_after_seconds
from llmservice.autoscaling.schedules import Bounds
from llmservice.converging.idle_status import seconds_of
from llmservice.converging.startup_status import known_cold_start
from llmservice.objects.names import WAKE_ANNOTATION
from llmservice.reconcilers.scaling.scaled_services import ScaledService
from llmservice.reconcilers.workers import ServiceKey


class Door(Protocol):
    """Who takes the requests of a service that has no replica."""

    def held_for(self, uid: str, key: ServiceKey) -> int:
        """Requests that are held now."""
        ...

    def is_covered(self, uid: str, key: ServiceKey) -> bool:
        """Whether whatever comes is held, for long enough that every node knows."""
        ...


class NoDoor:
    """Nobody: then no plan lets a service sleep."""

    def held_for(self, uid: str, key: ServiceKey) -> int:  # noqa: ARG002  (the protocol's)
        """None."""
        return 0

    def is_covered(self, uid: str, key: ServiceKey) -> bool:  # noqa: ARG002  (the protocol's)
        """Never."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """`later` calls a function in so many seconds."""

    door: Door
    later: Callable[[float, Callable[[], None]], object]
    hurry: Callable[[ServiceKey], None]

    def of(self, service: ScaledService, bounds: Bounds) -> Rest | None:
        """What the service may do at this moment; None of one that always runs."""
        if not service.scaling.may_sleep or service.scaling.advise:
            return None
        return Rest(
            allowed=bounds.minimum == 0,
            after_seconds=idle_after_seconds(service.scaling.idle_after_seconds, start_seconds(service)),
            covered=self.door.is_covered(service.uid, service.key),
            asked_at=asked_at(service),
        )

    def look_again(self, service: ScaledService) -> None:
        """Have a service that is about to sleep looked at when the activators have become its endpoints."""
        for seconds in _LOOKS:
            self.later(seconds, lambda: self.hurry(service.key))


_LOOKS = (1.0, 3.5)
"""After the first the activators are endpoints, after the second they have been for long enough."""


def asked_at(service: ScaledService) -> float | None:
    """When somebody last asked for it to be woken, by its annotation; None where nobody did, or it is no time."""
    return seconds_of((service.body["metadata"].get("annotations") or {}).get(WAKE_ANNOTATION))


def start_seconds(service: ScaledService) -> float | None:
    """What its last start took; None where that is not known."""
    return known_cold_start(service.plan, service.body.get("status") or {})
