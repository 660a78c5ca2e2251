"""LLMService and facts → plan. Each decision has a file of its own; this one is the table of contents."""

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.engines.engine import ServingRequest
from llmservice.engines.registry import engine_named
from llmservice.planning.checks import check_spec
from llmservice.planning.container import plan_container
from llmservice.planning.context import choose_context
from llmservice.planning.drain import drain_seconds, grace_seconds
from llmservice.planning.facts import Facts, facts_to_text
from llmservice.planning.images import choose_image
from llmservice.planning.names import choose_names, chosen_version
from llmservice.planning.network import DEFAULT_READERS, MetricsReaders, admitted_peers
from llmservice.planning.placement import choose_placement
from llmservice.planning.pod import plan_pod
from llmservice.planning.resources import choose_resources
from llmservice.planning.rollout import choose_rollout
from llmservice.planning.scaling import choose_scaling, replica_bound
from llmservice.planning.security import choose_security
from llmservice.planning.service_plan import Owner, ServicePlan
from llmservice.planning.startup import progress_deadline_seconds, startup_seconds
from llmservice.planning.weights import choose_source


def plan_service(service: LLMService, facts: Facts, readers: MetricsReaders = DEFAULT_READERS) -> ServicePlan:
    """Everything decided about a resource; the same resource, facts and readers always give the same plan.

    Raises InvalidSpec naming the field and the remedy.
    """
    spec, engine = service.spec, engine_named(service.spec.engine)
    check_spec(spec, engine, facts.version)

    names = choose_names(service)
    version = chosen_version(spec, facts.version)
    source = choose_source(spec.model, engine)
    context = choose_context(spec, facts.version)
    resources = choose_resources(spec, facts)
    drain = drain_seconds(spec)
    launch = engine.launch(
        ServingRequest(
            names=names.value,
            model=source,
            version=facts.version,
            devices=spec.gpu.count,
            max_model_len=context.max_model_len,
            max_num_seqs=context.max_num_seqs,
            drain_seconds=drain.value,
            quantization=spec.quantization,
            dtype=spec.dtype or "",
            kv_cache_dtype=spec.kv_cache_dtype or "",
            trust_remote_code=spec.model.trust_remote_code,
            cores=resources.cores,
            memory_bytes=resources.memory_bytes,
            offload_layers=spec.gpu.offload_layers,
        )
    )
    image = choose_image(spec, facts)
    startup = startup_seconds(spec, source)
    grace = grace_seconds(launch)
    rollout = choose_rollout(spec, progress_deadline_seconds(startup.value, grace))
    placement = choose_placement(spec.pod, facts, spec.gpu.type)
    security = choose_security(spec, facts)
    open_decisions = (names, version, image, context, launch, resources, rollout, startup, drain)

    return ServicePlan(
        owner=_owner(service),
        engine=engine.name,
        engine_version=version.value,
        model=spec.model.uri,
        names=names.value,
        quantization=next((each.value for each in launch.defaults if each.field == "quantization"), spec.quantization),
        accelerator=facts.accelerator.name if facts.accelerator else "",
        devices=spec.gpu.count,
        resource_name=facts.accelerator.resource_name if facts.accelerator else "",
        max_model_len=context.max_model_len,
        max_num_seqs=context.max_num_seqs,
        container=plan_container(spec, facts.registry, source, launch, image.value, startup.value, resources),
        pod=plan_pod(spec, facts.registry, source, launch, grace, placement, security),
        rollout=rollout.value,
        replica_bound=replica_bound(spec),
        scaling=choose_scaling(spec.autoscaling, engine.metric_names(facts.version)) if spec.autoscaling else None,
        admitted=admitted_peers(spec, readers),
        pod_security=security.standard,
        defaults=tuple(each for decision in open_decisions for each in decision.defaults),
        notes=(*placement.notes, *security.notes, *launch.notes),
        facts=facts_to_text(facts),
        render_version=facts.render_version,
        offload_layers=spec.gpu.offload_layers,
        verify_devices=spec.gpu.verify,
    )


def _owner(service: LLMService) -> Owner:
    metadata = service.metadata
    return Owner(namespace=metadata.namespace, name=metadata.name, uid=metadata.uid, generation=metadata.generation)
