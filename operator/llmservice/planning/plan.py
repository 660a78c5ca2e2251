"""LLMService and facts → plan: what is checked, what is decided, and the plan that says so."""

from collections.abc import Iterable

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.accelerator import Accelerator
from llmservice.engines.engine import Engine, Launch
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.proxied import metric_names_of_engine
from llmservice.engines.registry import engine_named
from llmservice.planning.cache import compile_folder, in_place
from llmservice.planning.checked import check
from llmservice.planning.container import plan_container, plan_worker
from llmservice.planning.context import choose_context
from llmservice.planning.decisions import (
    Subject,
    Surroundings,
    decide_launch,
    decide_subject,
    decide_surroundings,
    defaults_of,
)
from llmservice.planning.facts import Facts, facts_to_text
from llmservice.planning.fit.gate import judge
from llmservice.planning.network import DEFAULT_READERS, MetricsReaders, admitted_peers
from llmservice.planning.nodes import devices_of, nodes_of, notes_on_nodes
from llmservice.planning.notes import notes_on_model
from llmservice.planning.pod import choose_mounts, plan_pod
from llmservice.planning.pod_plan import ContainerPlan, PodPlan
from llmservice.planning.proxy import choose_proxy
from llmservice.planning.route import notes_on_route, plan_route
from llmservice.planning.scaling import choose_scaling, notes_on_scaling, replica_bound
from llmservice.planning.scaling_plan import ScalingPlan
from llmservice.planning.service_plan import Owner, ServicePlan
from llmservice.planning.startup import probe_seconds
from llmservice.planning.task import metric_names_for
from llmservice.planning.volumes import ScratchSizes


def plan_service(
    service: LLMService,
    facts: Facts,
    readers: MetricsReaders = DEFAULT_READERS,
    *,
    accepted: bool = False,
    others: Iterable[Accelerator] = (),
) -> ServicePlan:
    """Everything decided about a resource; the same resource, facts and readers always give the same plan.

    A generation that was `accepted` before is not refused by what the operator has since learned about the model.
    `others` are types that a remedy may name. Raises InvalidSpec naming the field and the remedy.
    """
    spec, engine = service.spec, engine_named(service.spec.engine)
    context = choose_context(spec, facts, engine)
    fit = judge(spec, facts, engine, context.max_model_len, context.max_num_seqs, others)
    checked = check(service, facts, engine, fit, accepted=accepted)
    subject = decide_subject(service, facts, engine, context)
    launch = decide_launch(service, facts, engine, subject)
    around = decide_surroundings(service, facts, engine, subject, launch)
    cache, image = around.cache.value, checked.image.value

    return ServicePlan(
        owner=_owner(service),
        engine=engine.name,
        engine_version=subject.version.value,
        model=spec.model.uri,
        names=subject.names.value,
        quantization=next((each.value for each in launch.defaults if each.field == "quantization"), spec.quantization),
        accelerator=facts.accelerator.name if facts.accelerator else "",
        devices=devices_of(spec, facts),
        nodes=nodes_of(spec),
        worker=plan_worker(spec, launch),
        parallelism=subject.parallelism,
        resource_name=facts.accelerator.resource_name if facts.accelerator else "",
        max_model_len=context.max_model_len,
        max_num_seqs=context.max_num_seqs,
        container=_container(service, facts, subject, launch, around, image),
        pod=_pod(service, facts, subject, launch, around, image),
        rollout=in_place(around.rollout.value, cache),
        replica_bound=replica_bound(spec),
        scaling=_scaling(service, facts, engine, subject),
        admitted=admitted_peers(spec, readers),
        pod_security=around.security.standard,
        defaults=defaults_of(checked.image, subject, launch, around),
        notes=(
            *notes_on_model(spec, facts, subject.source, cache),
            *notes_on_nodes(spec, facts, subject.parallelism),
            *around.placement.notes,
            *around.security.notes,
            *launch.notes,
            *notes_on_scaling(spec.autoscaling, _metric_names(facts, engine, subject)),
            *checked.compatibility,
            *notes_on_route(spec),
        ),
        facts=facts_to_text(facts),
        render_version=facts.render_version,
        fit=fit,
        offload_layers=spec.gpu.offload_layers,
        verify_devices=spec.gpu.verify,
        cache=cache,
        task=subject.task.value,
        adapters=subject.beside.adapters,
        live_adapters=spec.adapter_updates == "Live",
        adapters_named=engine.capabilities.adapters is not None and engine.capabilities.adapters.named,
        proxy=choose_proxy(spec, facts, engine.capabilities, launch, subject.resources, context.max_num_seqs),
        route=plan_route(spec.route) if spec.route else None,
    )


def _owner(service: LLMService) -> Owner:
    metadata = service.metadata
    return Owner(namespace=metadata.namespace, name=metadata.name, uid=metadata.uid, generation=metadata.generation)


def _container(
    service: LLMService, facts: Facts, subject: Subject, launch: Launch, around: Surroundings, image: str
) -> ContainerPlan:
    budget = around.startup.value
    fetched, probed = subject.beside.fetched(subject.source), probe_seconds(budget, facts)
    return plan_container(service.spec, facts.registry, fetched, launch, image, budget, probed, subject.resources)


def _pod(
    service: LLMService, facts: Facts, subject: Subject, launch: Launch, around: Surroundings, image: str
) -> PodPlan:
    spec, cache = service.spec, around.cache.value
    compiled = compile_folder(cache, facts, image, around.security.pod) if cache else ""
    sizes = ScratchSizes(around.shared_memory.value, subject.resources.disk)
    mounts = (*choose_mounts(spec, subject.source, launch, sizes, compiled), *subject.beside.mounts)
    return plan_pod(spec, facts.registry, launch, around.grace, around.placement, around.security, mounts)


def _scaling(service: LLMService, facts: Facts, engine: Engine, subject: Subject) -> ScalingPlan | None:
    if service.spec.autoscaling is None:
        return None
    return choose_scaling(service.spec.autoscaling, _metric_names(facts, engine, subject))


def _metric_names(facts: Facts, engine: Engine, subject: Subject) -> MetricNames:
    return metric_names_for(subject.task.value, metric_names_of_engine(engine, facts.version))
