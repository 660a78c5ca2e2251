"""Which services are scaled, and everything about one that does not come from its engines."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.replicas import is_emptied
from llmservice.converging.revisions import in_force
from llmservice.converging.scaled_pods import LeavingPod, ScaledPod, leaving_pods, scaled_pods
from llmservice.engines.metric_names import MetricNames
from llmservice.objects.pods import replicas_among
from llmservice.objects.references import Manifest, Ref, is_being_deleted, uid_of
from llmservice.planning.scaling_plan import ScalingPlan
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.scaling.service_state import ServiceState
from llmservice.reconcilers.scaling.service_states import ServiceStates
from llmservice.reconcilers.workers import ServiceKey
from llmservice.reconcilers.workloads import pods_in_cache, workload_in_cache


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledService:
    """One service with `spec.autoscaling` whose workload is ours, as it is now; `state` is what is remembered of it.

    Pods that are `leaving` are read, but nothing is decided by them. `metric_names` are those of each pod, by its UID.
    `suspended` holds until the operator has stated replicas again after a suspension.
    """

    state: ServiceState
    body: Manifest
    plan: ServicePlan
    scaling: ScalingPlan
    deployment: Manifest
    pods: tuple[ScaledPod, ...]
    leaving: tuple[LeavingPod, ...]
    metric_names: Mapping[str, MetricNames]
    suspended: bool

    @property
    def key(self) -> ServiceKey:
        """Namespace and name."""
        return self.plan.owner.namespace, self.plan.owner.name

    @property
    def uid(self) -> str:
        """The UID of the resource."""
        return self.plan.owner.uid


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledServices:
    """Finds them in the cache; `plan` makes the plan of a resource."""

    cache: ObjectCache
    states: ServiceStates
    plan: Callable[[LLMService], ServicePlan]

    def keys(self) -> Iterator[ServiceKey]:
        """Every resource with `spec.autoscaling`."""
        for body in self.cache.of_kind("LLMService"):
            if (body.get("spec") or {}).get("autoscaling"):
                yield body["metadata"]["namespace"], body["metadata"]["name"]

    def find(self, key: ServiceKey) -> ScaledService | None:
        """The service as it is now; None where there is nothing to scale (yet)."""
        body = self.cache.get(Ref("LLMService", *key))
        deployment = workload_in_cache(self.cache, body) if body is not None else None
        if body is None or deployment is None or is_being_deleted(body) or is_being_deleted(deployment):
            return None
        state = self.states.of(uid_of(body), key)
        plan = state.plans.of(in_force(body, deployment), deployment, self.plan)
        if plan is None or plan.scaling is None:
            return None
        pods = replicas_among(pods_in_cache(self.cache, deployment))
        return ScaledService(
            state=state,
            body=body,
            plan=plan,
            scaling=plan.scaling,
            deployment=deployment,
            pods=scaled_pods(pods),
            leaving=leaving_pods(pods),
            metric_names=state.metric_names.of(pods, plan, plan.scaling),
            suspended=bool(body["spec"].get("suspend")) or is_emptied(deployment),
        )

    def is_current(self, service: ScaledService) -> bool:
        """Whether the resource is still what it was when the service was found: reading takes its time."""
        body = self.cache.get(Ref("LLMService", *service.key))
        return body is not None and _identity(body) == _identity(service.body)


def _identity(body: Manifest) -> tuple[object, ...]:
    return tuple(body["metadata"].get(key) for key in ("uid", "generation", "deletionTimestamp"))
