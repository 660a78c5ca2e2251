"""Who holds requests: the activator's pods in the operator's own namespace, or processes at fixed addresses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.objects.endpoint_slices import CONTROL_PORT, Activator
from llmservice.objects.pods import is_ready
from llmservice.objects.references import Manifest, is_being_deleted


@dataclass(frozen=True, slots=True, order=True)
class Control:
    """The control port of one replica of the activator."""

    host: str
    port: int = CONTROL_PORT


class Activators(Protocol):
    """The replicas of the activator; `listen` tells of every change. `ready` may be asked from another thread."""

    def ready(self) -> frozenset[Activator]:
        """Those that take requests."""
        ...

    def controls(self) -> frozenset[Control]:
        """Those to ask: one that is being stopped still has what it holds."""
        ...

    def answers(self, control: Control, *, well: bool) -> None:
        """Note whether one answers."""
        ...

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this on every change from now on."""
        ...


@dataclass(slots=True)
class PodActivators:
    """Pods in a cache of their own, which holds nothing else."""

    cache: ObjectCache

    def ready(self) -> frozenset[Activator]:
        """Those that Kubernetes calls ready, and that are not being stopped."""
        pods = (pod for pod in self._pods() if is_ready(pod) and not is_being_deleted(pod))
        return frozenset(
            Activator(pod["status"]["podIP"], pod["metadata"]["namespace"], pod["metadata"]["name"]) for pod in pods
        )

    def controls(self) -> frozenset[Control]:
        """Every pod with an address."""
        return frozenset(Control(pod["status"]["podIP"]) for pod in self._pods())

    def answers(self, control: Control, *, well: bool) -> None:
        """Kubernetes probes them."""

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this on every change of a pod."""
        self.cache.listen(lambda *_: listener())

    def _pods(self) -> list[Manifest]:
        return [pod for pod in self.cache.of_kind("Pod") if (pod.get("status") or {}).get("podIP")]


@dataclass(slots=True)
class FixedActivators:
    """Processes at fixed addresses, for an operator beside a cluster; who answers on its control port is ready."""

    addresses: frozenset[Control]
    _well: set[Control] = field(default_factory=set)
    _listeners: list[Callable[[], None]] = field(default_factory=list)

    def ready(self) -> frozenset[Activator]:
        """Those that answered last time."""
        return frozenset(Activator(control.host) for control in self._well.copy())

    def controls(self) -> frozenset[Control]:
        """All of them."""
        return self.addresses

    def answers(self, control: Control, *, well: bool) -> None:
        """One that answers is ready from now on, one that does not is not."""
        if (control in self._well) == well:
            return
        (self._well.add if well else self._well.discard)(control)
        for listener in self._listeners:
            listener()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this whenever one begins or ceases to answer."""
        self._listeners.append(listener)
