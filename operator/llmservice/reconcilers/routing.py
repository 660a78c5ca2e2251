"""The route of a service: written beside its children, and never in their way.

A cluster may lack the kinds, a webhook of a gateway may refuse, a name may be taken: the condition RouteReady says so,
and the service serves on.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.changes import diff
from llmservice.converging.conditions import Condition
from llmservice.converging.observed import Observed
from llmservice.converging.replicas import Replicas
from llmservice.converging.route_absence import absence
from llmservice.converging.route_condition import (
    Problem,
    condition_of,
    route_condition,
    route_status,
    seconds_to_suspicion,
)
from llmservice.converging.route_shadows import shadow_over
from llmservice.converging.taken_names import name_conflict
from llmservice.errors import NameTaken, NotLeader, Refused, Terminating, Unavailable
from llmservice.objects.references import Manifest, Ref, controller_uid, ref_of
from llmservice.planning.route_plan import RoutePlan
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.child_writer import ChildWriter
from llmservice.rendering.http_route import ROUTE_KINDS, route_children

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 20.0
_SOON_SECONDS = 1.0
_NO_REPLICAS = Replicas(value=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteReport:
    """What the status tells of the route (both None where none is asked for), and when to look again."""

    condition: Condition | None = None
    status: Mapping[str, Any] | None = None
    requeue_seconds: float | None = None


@dataclass(slots=True, kw_only=True)
class Routing:
    """Keeps the route of each LLMService as its plan says. `now` is the clock (UTC)."""

    cluster: Cluster
    cache: ObjectCache
    now: Callable[[], datetime]
    children: ChildWriter = field(init=False)

    def __post_init__(self) -> None:
        self.children = ChildWriter(cluster=self.cluster, cache=self.cache)

    def forget(self, uid: str) -> None:
        """Forget a deleted resource."""
        self.children.forget(uid)

    async def settle(self, plan: ServicePlan, absent: Mapping[str, str], before: Mapping[str, Any]) -> RouteReport:
        """Write what differs, and tell how far it is; `before` is the status of the service as it stands.

        Kinds in `absent` cannot be used. Raises what ends every pass: another leader, a namespace that goes.
        """
        wanted, found = route_children(plan), self._found(plan)
        problem = absence((manifest["kind"] for manifest in wanted), absent)
        seen = _Seen(found, problem)
        if problem is None and (wanted or found):
            seen = await self._write(plan, wanted, found)
        return self._report(plan, plan.route, seen, before) if plan.route else RouteReport(requeue_seconds=seen.pause)

    def _report(self, plan: ServicePlan, asked: RoutePlan, seen: "_Seen", before: Mapping[str, Any]) -> RouteReport:
        route, pool = (seen.found.get(Ref(kind, plan.owner.namespace, plan.owner.name)) for kind in ROUTE_KINDS)
        condition = condition_of(seen.problem) if seen.problem else self._condition(route, pool, before)
        pauses = (seen.pause, seconds_to_suspicion(condition, route, before, self.now()))
        again = min(filter(None, pauses), default=None)
        return RouteReport(condition=condition, status=route_status(asked, route), requeue_seconds=again)

    def _condition(self, route: Manifest | None, pool: Manifest | None, before: Mapping[str, Any]) -> Condition:
        if route is None:  # it is being deleted, and made again when that is over
            return condition_of(Problem(Reason.ROUTE_PENDING, "the route is being written: wait", status=None))
        condition = route_condition(route, pool, before, self.now())
        if condition.reason == Reason.ROUTE_ACCEPTED and (
            shadow := shadow_over(route, self.cache.of_kind("HTTPRoute"))
        ):
            return condition_of(shadow)
        return condition

    def _found(self, plan: ServicePlan) -> dict[Ref, Manifest]:
        owner = plan.owner
        return {
            ref_of(live): live
            for kind in ROUTE_KINDS
            for live in self.cache.of_service(kind, owner.namespace, owner.name)
            if controller_uid(live) == owner.uid
        }

    async def _write(self, plan: ServicePlan, wanted: Iterable[Manifest], found: dict[Ref, Manifest]) -> "_Seen":
        observed = Observed(children=found)
        try:
            changes = diff(wanted, observed)
            written = await self.children.write(plan.owner, changes, observed, _NO_REPLICAS, is_new=False)
        except (NotLeader, Terminating):
            raise
        except NameTaken:
            return await self._taken(plan, wanted, found)
        except (Refused, Unavailable) as failure:
            log.warning("%s/%s: route not written: %s", plan.owner.namespace, plan.owner.name, failure)
            said = f"the API server refuses the route: {failure}"
            return _Seen(found, Problem(Reason.REFUSED_BY_CLUSTER, said), _AGAIN_SECONDS)
        contested = "; ".join(written.contests)
        problem = Problem(Reason.CONTESTED, f"{contested}: stop the other writer") if contested else None
        return _Seen(dict(written.children), problem, written.requeue_seconds)

    async def _taken(self, plan: ServicePlan, wanted: Iterable[Manifest], found: dict[Ref, Manifest]) -> "_Seen":
        """Some name is another's; or it is ours, and no watch has told yet."""
        known, taken = dict(found), dict[Ref, Manifest]()
        for ref in map(ref_of, wanted):
            live = None if ref in known else await self.cluster.get(ref)
            if live is not None:
                (known if controller_uid(live) == plan.owner.uid else taken)[ref] = live
        if not taken:
            return _Seen(known, None, _SOON_SECONDS)
        return _Seen(known, Problem(Reason.NAME_CONFLICT, name_conflict(plan.owner, taken).message), _AGAIN_SECONDS)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The objects after the writes, what is wrong with them, and the pause until the next try."""

    found: Mapping[Ref, Manifest]
    problem: Problem | None
    pause: float | None = None
