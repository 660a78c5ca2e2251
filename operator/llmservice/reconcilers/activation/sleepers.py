"""Services that may have no replica: the EndpointSlice of each, what is held for it, and who is told of both."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.activation import address_type_of, may_sleep, of_type, trouble_in, wants_activators
from llmservice.converging.replicas import live_replicas
from llmservice.converging.startup_status import known_cold_start
from llmservice.objects.endpoint_slices import (
    Activation,
    Activator,
    has_endpoints,
    has_ready_replica,
    port_of,
    slice_ref,
)
from llmservice.objects.references import Manifest, Ref, controller_uid, uid_of
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.activation.activators import Activators
from llmservice.reconcilers.activation.covering import Covering
from llmservice.reconcilers.activation.held_requests import HeldRequests
from llmservice.reconcilers.activation.ports import Owner, Ports
from llmservice.reconcilers.scaling.service_states import ServiceStates
from llmservice.reconcilers.workers import ServiceKey
from llmservice.reconcilers.workloads import workload_in_cache
from llmservice.rendering.activation import activation_slice
from llmservice.signals.held_page import PortCounts


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
    _ports: Ports = field(init=False)
    _covering: Covering = field(init=False)

    def __post_init__(self) -> None:
        self._ports, self._covering = Ports(cache=self.cache, clock=self.clock), Covering(self.clock)
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
        port = self._ports.port(Owner((owner.namespace, owner.name), owner.uid), mine)
        if address_type is None or port is None:
            return ()
        workload = live.get(Ref(plan.workload_kind, owner.namespace, owner.name))
        start = known_cold_start(plan, body.get("status") or {})
        starts = workload is not None and live_replicas(workload) > 0
        trouble, hopeless = trouble_in(body) if starts else ("", False)
        activation = Activation(
            port=port,
            address_type=address_type,
            endpoints=self._endpoints(plan, body, workload, address_type),
            start_seconds=None if start is None else round(start),
            trouble=trouble,
            hopeless=hopeless,
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
        return self._covering.is_covered(uid, self._mine(uid, key))

    def can_hold(self) -> bool:
        """Whether an activator takes requests."""
        return bool(self.activators.ready())

    def forget(self, uid: str) -> None:
        """Forget a resource that is gone; its port is spared for a while."""
        self._covering.forget(uid)

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
        return has_ready_replica(self.cache.of_service("EndpointSlice", namespace, name), name)

    def _note(self, port: int, counts: PortCounts) -> None:
        """What an activator tells: count it, and have the autoscaler look at once where something is held."""
        owner = self._ports.owner(port)
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
