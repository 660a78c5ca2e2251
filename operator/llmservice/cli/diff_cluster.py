"""Compares a resource, as it would be applied, with what is in the cluster; with the rights of the caller."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cli.own_objects import replicas_of
from llmservice.cli.projection import projected
from llmservice.cli.rollout_words import Words, told
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.device_census import DeviceCensus
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.transport.connection import Connection
from llmservice.converging.replicas import stating
from llmservice.converging.rollout_record import changes_template, record_of, recorded, replacing
from llmservice.converging.rollout_step import RolloutStep
from llmservice.errors import InvalidSpec, Refused
from llmservice.objects.names import ROLLOUT_ANNOTATION
from llmservice.objects.references import Manifest, Ref, controller_uid, ref_of, uid_of
from llmservice.objects.workloads import workload_in
from llmservice.planning.facts import Facts, facts_from_text, pinned_facts
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.applying import wanted_replicas
from llmservice.reconcilers.free_devices import FreeDevices
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.rendering.http_route import ROUTE_KINDS, route_children
from llmservice.rendering.manifests import CHILD_KINDS, render

_MAY_END = ("NetworkPolicy", "PodDisruptionBudget", *ROUTE_KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A child as it is in the cluster, reduced to what we state, and as it would be; None where there is none."""

    ref: Ref
    before: Manifest | None
    after: Manifest | None

    @property
    def differs(self) -> bool:
        """Whether anything would be written."""
        return self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One LLMService: its children, and what the change means for its pods."""

    namespace: str
    name: str
    is_new: bool
    children: tuple[Child, ...]
    words: Words

    @property
    def differs(self) -> bool:
        """Whether anything would be written."""
        return any(child.differs for child in self.children)


async def compared(
    connection: Connection, planner: CataloguePlanner, body: Manifest, *, update: bool = False
) -> Comparison:
    """What becomes of a resource that is applied as `body`; with `update` by the current facts.

    Raises InvalidSpec, and what the API server answers.
    """
    server = ApiServer(connection)
    namespace, name = body["metadata"]["namespace"], body["metadata"]["name"]
    live = await server.get(Ref("LLMService", namespace, name))
    after = _planned(planner, _as_applied(body, live), live, update=update)
    children = await _children(server, live, after) if live else {}
    pods = await replicas_of(server, live) if live else []
    deployment = children.get(Ref(after.plan.workload_kind, namespace, name))
    wanted = stating(
        render(after.plan, replicas=None), wanted_replicas(after.service, after.plan, deployment, datetime.now(UTC))
    )
    intent = workload_in(wanted)
    step = RolloutStep(after.plan, after.body, wanted, intent, deployment, pods)
    restarts = deployment is not None and changes_template(deployment, intent)
    words = await told(step, FreeDevices(DeviceCensus(connection), time.monotonic), planner, after.service, restarts)
    routes = await _routes(server, live, after)
    before = _intents_before(planner, live)
    manifests = (*_recorded(step, restarts=restarts), *(route_children(after.plan) if routes is not None else ()))
    return Comparison(
        namespace=namespace,
        name=name,
        is_new=live is None,
        children=tuple(_pairs(manifests, before, children | (routes or {}))),
        words=words,
    )


@dataclass(frozen=True, slots=True)
class _Planned:
    body: Manifest
    service: LLMService
    plan: ServicePlan


def _as_applied(body: Manifest, live: Manifest | None) -> Manifest:
    """The resource as the API server would have it after the apply: identity and status are the live one's."""
    if live is None:
        return {**body, "status": None}
    is_edit = LLMService.parse({**body, "status": None}).spec != LLMService.parse({**live, "status": None}).spec
    was = live["metadata"]
    metadata = {**body["metadata"], "uid": uid_of(live), "generation": int(was.get("generation", 1)) + is_edit}
    return {**body, "metadata": metadata, "status": live.get("status")}


def _planned(planner: CataloguePlanner, body: Manifest, live: Manifest | None, *, update: bool) -> _Planned:
    service = LLMService.parse(body)
    facts = _facts_of(live) if live and _same_model(body, live) else None
    plan = planner(service, weights=facts.weights if facts else "", beside=dict(facts.beside) if facts else None)
    if update:
        plan = planner.newest(service, plan) or plan
    return _Planned(body, service, plan)


def _same_model(body: Manifest, live: Manifest) -> bool:
    """Whether it is the same model on the same claim: what was downloaded stays where it is."""
    return bool((body.get("spec") or {}).get("model") == (live.get("spec") or {}).get("model"))


def _facts_of(live: Manifest) -> Facts | None:
    service = LLMService.parse(live)
    return facts_from_text(pinned_facts(service.status, service.metadata.generation) or "")


async def _children(server: ApiServer, live: Manifest, after: _Planned) -> dict[Ref, Manifest]:
    """Those that the resource controls; of kinds that a cluster may lack where the plan has one."""
    owner, rendered = after.plan.owner, {each["kind"] for each in render(after.plan, replicas=None)}
    kinds = [kind for kind in CHILD_KINDS if kind in rendered or not KINDS[kind].optional]
    found = [await server.get(Ref(kind, owner.namespace, owner.name)) for kind in kinds]
    return {ref_of(each): each for each in found if each and controller_uid(each) == uid_of(live)}


async def _routes(server: ApiServer, live: Manifest | None, after: _Planned) -> dict[Ref, Manifest] | None:
    """What leads to it from outside; None where the caller may not read it, which is then not compared."""
    if live is None or not (after.plan.route or (live.get("spec") or {}).get("route")):
        return {}
    owner = after.plan.owner
    try:
        found = [await server.get(Ref(kind, owner.namespace, owner.name)) for kind in ROUTE_KINDS]
    except Refused:
        return None
    return {ref_of(each): each for each in found if each and controller_uid(each) == uid_of(live)}


def _intents_before(planner: CataloguePlanner, live: Manifest | None) -> dict[Ref, Manifest]:
    """What was stated before: fields that the new intent no longer has. None where it would be refused now."""
    if live is None:
        return {}
    try:
        plan = _planned(planner, live, live, update=False).plan
    except InvalidSpec:
        return {}
    return {ref_of(each): each for each in (*render(plan, replicas=None), *route_children(plan))}


def _recorded(step: RolloutStep, *, restarts: bool) -> Sequence[Manifest]:
    """A template that stays is rolled out as it was: its strategy is no change."""
    record = record_of(step.live) if step.live and not restarts and step.plan.rollout.by_free_devices else None
    if record is None:
        return step.manifests
    intent = recorded(step.intent, record)
    annotations = dict(intent["metadata"]["annotations"])
    annotations.pop(ROLLOUT_ANNOTATION)
    metadata = {**intent["metadata"], "annotations": annotations}
    return replacing({**intent, "metadata": metadata}, step.manifests)


def _pairs(
    manifests: Iterable[Manifest], before: dict[Ref, Manifest], children: dict[Ref, Manifest]
) -> Iterable[Child]:
    after = {ref_of(each): each for each in manifests}
    for ref, intent in after.items():
        live = children.get(ref)
        masks: list[Any] = [intent, *([before[ref]] if ref in before else [])]
        yield Child(ref=ref, before=None if live is None else projected(live, masks), after=intent)
    for ref, live in children.items():
        if ref not in after and ref.kind in _MAY_END:
            yield Child(ref=ref, before=projected(live, [before.get(ref, live)]), after=None)
