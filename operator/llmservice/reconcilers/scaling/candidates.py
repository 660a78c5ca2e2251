"""Which services are scaled, and everything about one that does not come from its engines."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.replicas import is_emptied
from llmservice.converging.scaled_pods import ScaledPod, scaled_pods
from llmservice.engines.metric_names import MetricNames
from llmservice.errors import InvalidSpec
from llmservice.objects.pods import pods_of
from llmservice.objects.references import Manifest, Ref, controller_uid, is_being_deleted, uid_of
from llmservice.planning.facts import pinned_facts
from llmservice.planning.service_plan import ScalingPlan, ServicePlan
from llmservice.reconcilers.scaling.metric_names_by_image import MetricNamesByImage
from llmservice.reconcilers.workers import ServiceKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One service with `spec.autoscaling` whose Deployment is ours.

    `metric_names` are those of each pod, by its UID. `suspended` holds until the operator has stated replicas again
    after a suspension.
    """

    body: Manifest
    plan: ServicePlan
    scaling: ScalingPlan
    deployment: Manifest
    pods: tuple[ScaledPod, ...]
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


_Made = tuple[int, str | None]
"""Generation, and the facts that stand in the status for it: what a plan is made from."""


@dataclass(slots=True, kw_only=True)
class Candidates:
    """Finds them in the cache. A plan is made once for each generation and its facts."""

    cache: ObjectCache
    plan: Callable[[LLMService], ServicePlan]
    _plans: dict[str, tuple[_Made, ServicePlan | None]] = field(default_factory=dict)
    _metric_names_by_image: dict[str, MetricNamesByImage] = field(default_factory=dict)

    def keys(self) -> Iterator[ServiceKey]:
        """Every resource with `spec.autoscaling`."""
        for body in self.cache.of_kind("LLMService"):
            if (body.get("spec") or {}).get("autoscaling"):
                yield body["metadata"]["namespace"], body["metadata"]["name"]

    def find(self, key: ServiceKey) -> Candidate | None:
        """The service as it is now; None where there is nothing to scale (yet)."""
        body, deployment = self.cache.get(Ref("LLMService", *key)), self.cache.get(Ref("Deployment", *key))
        if body is None or deployment is None or is_being_deleted(body) or is_being_deleted(deployment):
            return None
        plan = self._plan(body)
        if plan is None or plan.scaling is None or controller_uid(deployment) != plan.owner.uid:
            return None
        pods = pods_of(deployment, self.cache.of_service("ReplicaSet", *key), self.cache.of_service("Pod", *key))
        metric_names_by_image = self._metric_names_by_image.setdefault(plan.owner.uid, MetricNamesByImage())
        return Candidate(
            body=body,
            plan=plan,
            scaling=plan.scaling,
            deployment=deployment,
            pods=scaled_pods(pods),
            metric_names=metric_names_by_image.of(pods, plan, plan.scaling),
            suspended=bool(body["spec"].get("suspend")) or is_emptied(deployment),
        )

    def is_current(self, service: Candidate) -> bool:
        """Whether the resource is still what it was when the service was found: reading takes its time."""
        body = self.cache.get(Ref("LLMService", *service.key))
        return body is not None and _identity(body) == _identity(service.body)

    def forget(self, uid: str) -> None:
        """Drop the plan of a resource that is gone, and what its pods speak."""
        self._plans.pop(uid, None)
        self._metric_names_by_image.pop(uid, None)

    def _plan(self, body: Manifest) -> ServicePlan | None:
        """The plan; None while the spec is one that only an edit can help."""
        made, known = _made_from(body), self._plans.get(uid_of(body))
        if known is not None and known[0] == made:
            return known[1]
        try:
            plan = self.plan(LLMService.parse(body))
        except InvalidSpec:
            plan = None
        self._plans[uid_of(body)] = made, plan
        return plan


def _identity(body: Manifest) -> tuple[object, ...]:
    return tuple(body["metadata"].get(key) for key in ("uid", "generation", "deletionTimestamp"))


def _made_from(body: Manifest) -> _Made:
    generation = int(body["metadata"].get("generation", 0))
    return generation, pinned_facts(body.get("status") or {}, generation)
