"""Services that may have no replica: the EndpointSlice of each, what is held for it, and who is told of both."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.activation import address_type_of, choose_port, of_type, wants_activators
from llmservice.converging.replicas import live_replicas
from llmservice.converging.startup_status import known_cold_start
from llmservice.objects.endpoint_slices import (
    Activation,
    Activator,
    has_endpoints,
    has_ready_replica,
    is_ours,
    port_of,
    service_of,
    slice_ref,
)
from llmservice.objects.references import Manifest, Ref, controller_uid, uid_of
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.activation.activators import Activators
from llmservice.reconcilers.activation.held_requests import HeldRequests
from llmservice.reconcilers.scaling.service_states import ServiceStates
from llmservice.reconcilers.workers import ServiceKey
from llmservice.reconcilers.workloads import workload_in_cache
from llmservice.rendering.activation import activation_slice
from llmservice.signals.held_page import PortCounts

_KIND = "EndpointSlice"
_INDEX_SECONDS, _UNKNOWN_PORT_SECONDS = 1.0, 0.1
"""So old the index of ports may be; for a port that it lacks it is made anew, ten times a second at most."""

_SPARED_SECONDS = 600.0
"""A port that was given back is given to nobody else for so long: activators may still hold requests on it."""

_COVERED_SECONDS = 2.0
"""After the activators became endpoints the last node has heard of it (kube-proxy takes less than one)."""


@dataclass(frozen=True, slots=True)
class _Covered:
    """An EndpointSlice with activators as endpoints: its version, and since when it is known."""

    version: str
    since: float


class _Owner(NamedTuple):
    """Whose a port is."""

    key: ServiceKey
    uid: str


@dataclass(slots=True, kw_only=True)
class Sleepers:
    """`hurry` has a service scaled at once, `changed` has it reconciled. `clock` is monotonic, in seconds."""

    cache: ObjectCache
    activators: Activators
    states: ServiceStates
    held: HeldRequests
    hurry: Callable[[ServiceKey], None]
    changed: Callable[[ServiceKey], None]
    clock: Callable[[], float] = time.monotonic
    _owners: dict[int, _Owner] = field(default_factory=dict)
    _indexed_at: float = float("-inf")
    _given: dict[str, tuple[int, float]] = field(default_factory=dict)
    _covered: dict[str, _Covered] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.held.noted = self._note
        self.activators.listen(self._activators_changed)

    def any(self) -> bool:
        """Whether there is a service that may sleep."""
        return any(may_sleep(body) for body in self.cache.of_kind("LLMService"))

    def children(self, plan: ServicePlan, body: Manifest, live: Mapping[Ref, Manifest]) -> tuple[Manifest, ...]:
        """Our EndpointSlice, as it is to be; none of a service that always runs, or before an activator was seen.

        `live` are the children there are.
        """
        owner = plan.owner
        if not plan.may_sleep:
            return ()
        mine = live.get(slice_ref(owner.namespace, owner.name))
        address_type = address_type_of(self.activators.ready(), mine)
        port = self._port(owner.uid, (owner.namespace, owner.name), mine)
        if address_type is None or port is None:
            return ()
        workload = live.get(Ref(plan.workload_kind, owner.namespace, owner.name))
        start = known_cold_start(plan, body.get("status") or {})
        activation = Activation(
            port=port,
            address_type=address_type,
            endpoints=self._endpoints(plan, body, workload, address_type),
            start_seconds=None if start is None else round(start),
        )
        return (activation_slice(plan, activation),)

    def names(self, plan: ServicePlan) -> tuple[Ref, ...]:
        """The objects beside those that a plan renders."""
        return (slice_ref(plan.owner.namespace, plan.owner.name),) if plan.may_sleep and self._seen(plan) else ()

    def held_for(self, uid: str, key: ServiceKey) -> int:
        """Requests that are held for a service now."""
        port = port_of(self._mine(uid, key) or {})
        return 0 if port is None else self.held.at(port)

    def is_covered(self, uid: str, key: ServiceKey) -> bool:
        """Whether whatever comes for a service is held, if no replica takes it: so for a while, on every node."""
        mine = self._mine(uid, key)
        if mine is None or not has_endpoints(mine):
            self._covered.pop(uid, None)
            return False
        known, version = self._covered.get(uid), str(mine["metadata"].get("resourceVersion", ""))
        if known is None or known.version != version:  # other endpoints, of which every node has to hear
            known = self._covered[uid] = _Covered(version, self.clock())
        return self.clock() - known.since >= _COVERED_SECONDS

    def can_hold(self) -> bool:
        """Whether an activator takes requests."""
        return bool(self.activators.ready())

    def forget(self, uid: str) -> None:
        """Forget a resource that is gone; its port is spared for a while."""
        self._covered.pop(uid, None)

    def _mine(self, uid: str, key: ServiceKey) -> Manifest | None:
        """The EndpointSlice of the service with this UID; None while that of a predecessor has the name."""
        found = self.cache.get(slice_ref(*key))
        return found if found is not None and controller_uid(found) == uid else None

    def _seen(self, plan: ServicePlan) -> bool:
        owner = plan.owner
        return self.can_hold() or self._mine(owner.uid, (owner.namespace, owner.name)) is not None

    def _endpoints(
        self, plan: ServicePlan, body: Manifest, workload: Manifest | None, address_type: str
    ) -> tuple[Activator, ...]:
        owner, state = plan.owner, self.states.known(plan.owner.uid)
        emptied = workload is not None and live_replicas(workload) == 0
        wanted = wants_activators(
            suspended=bool((body.get("spec") or {}).get("suspend")),
            ready=self._is_served(owner.namespace, owner.name),
            sleeps=emptied or (state is not None and state.rests),
        )
        return of_type(self.activators.ready(), address_type) if wanted else ()

    def _is_served(self, namespace: str, name: str) -> bool:
        return has_ready_replica(self.cache.of_service(_KIND, namespace, name), name)

    def _port(self, uid: str, key: ServiceKey, mine: Manifest | None) -> int | None:
        now = self.clock()
        self._given = {of: given for of, given in self._given.items() if now - given[1] < _SPARED_SECONDS}
        port = port_of(mine or {}) or (self._given[uid][0] if uid in self._given else None)
        if port is None or self._index().get(port, _Owner(key, uid)) != (key, uid):
            spared = [given for of, (given, _) in self._given.items() if of != uid]
            port = choose_port(uid, self.cache.of_kind(_KIND), spared)
        if port is not None:
            self._given[uid] = port, now
        return port

    def _index(self, at_most_seconds: float = _INDEX_SECONDS) -> dict[int, _Owner]:
        """The service of each port: of several the oldest. At most so old."""
        if self.clock() - self._indexed_at > at_most_seconds:
            self._indexed_at = self.clock()
            ours = [each for each in self.cache.of_kind(_KIND) if is_ours(each)]
            ours.sort(key=lambda each: str(each["metadata"].get("creationTimestamp", "")), reverse=True)
            self._owners = {port: _owner(each) for each in ours if (port := port_of(each)) is not None}
        return self._owners

    def _note(self, port: int, counts: PortCounts) -> None:
        """What an activator tells: count it, and have the autoscaler look at once where something is held."""
        owner = self._index().get(port) or self._index(_UNKNOWN_PORT_SECONDS).get(port)
        body = self.cache.get(Ref("LLMService", *owner.key)) if owner else None
        if owner is None or body is None or uid_of(body) != owner.uid:
            return
        state = self.states.known(owner.uid)
        if state is not None:
            state.passed_on += counts.answered
            state.refused += counts.refused
        workload = workload_in_cache(self.cache, body)
        if counts.held and workload is not None and live_replicas(workload) == 0:
            self.hurry(owner.key)

    def _activators_changed(self) -> None:
        """Reconcile those whose EndpointSlice says who the activators are, or is still to be made."""
        for body in self.cache.of_kind("LLMService"):
            key = body["metadata"]["namespace"], body["metadata"]["name"]
            if may_sleep(body) and self._is_concerned(uid_of(body), key):
                self.changed(key)

    def _is_concerned(self, uid: str, key: ServiceKey) -> bool:
        mine = self._mine(uid, key)
        return mine is None or has_endpoints(mine) or not self._is_served(*key)


def may_sleep(body: Manifest) -> bool:
    """Whether a resource asks for zero replicas, now or at some time; by its spec, which may be refused."""
    return any(least == 0 for least in _least_replicas((body.get("spec") or {}).get("autoscaling") or {}))


def _least_replicas(autoscaling: Mapping[str, Any]) -> Iterator[Any]:
    yield autoscaling.get("minReplicas")
    for schedule in autoscaling.get("schedules") or ():
        yield schedule.get("minReplicas")


def _owner(endpoint_slice: Manifest) -> _Owner:
    """The service of a slice of ours, by the label that its name was checked against."""
    metadata = endpoint_slice["metadata"]
    return _Owner((metadata["namespace"], service_of(metadata["name"])), controller_uid(endpoint_slice))
