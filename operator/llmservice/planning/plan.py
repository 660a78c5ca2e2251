"""LLMService and facts → plan. Each decision has a file of its own; this one is the table of contents."""

from collections.abc import Iterable

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.accelerator import Accelerator
from llmservice.engines.engine import ServingRequest
from llmservice.engines.proxied import metric_names_of_engine
from llmservice.engines.registry import engine_named
from llmservice.planning.beside import choose_beside
from llmservice.planning.beside_checks import check_beside
from llmservice.planning.cache import cached_model, choose_cache, compile_folder, in_place
from llmservice.planning.checks import check_spec
from llmservice.planning.compatibility import check_compatibility
from llmservice.planning.container import plan_container
from llmservice.planning.context import check_length, choose_context
from llmservice.planning.decided import Decided
from llmservice.planning.drain import drain_seconds, drains_until_sent, grace_seconds
from llmservice.planning.facts import Facts, facts_to_text
from llmservice.planning.fit.gate import judge, refuse_what_cannot_fit
from llmservice.planning.gathering import gather
from llmservice.planning.images import choose_image
from llmservice.planning.names import choose_names, chosen_version
from llmservice.planning.network import DEFAULT_READERS, MetricsReaders, admitted_peers
from llmservice.planning.notes import notes_on_model
from llmservice.planning.number_formats import check_files, check_quantization, choose_dtype
from llmservice.planning.parallelism import check_parallelism, choose_parallelism
from llmservice.planning.placement import choose_placement
from llmservice.planning.pod import choose_mounts, plan_pod
from llmservice.planning.proxy import choose_proxy, listens_on
from llmservice.planning.resources import choose_resources
from llmservice.planning.rollout import choose_rollout
from llmservice.planning.scaling import choose_scaling, replica_bound
from llmservice.planning.security import choose_security
from llmservice.planning.service_plan import Owner, ServicePlan
from llmservice.planning.shared_memory import choose_shared_memory
from llmservice.planning.startup import probe_seconds, progress_deadline_seconds, startup_seconds
from llmservice.planning.task import check_task, choose_task, metric_names_for
from llmservice.planning.volumes import ScratchSizes
from llmservice.planning.weights import choose_source


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
    compatibility: list[str] = []
    images: list[Decided[str]] = []
    gather(
        lambda: check_spec(spec, engine, facts),
        lambda: None if accepted else check_task(spec, facts, engine),
        lambda: check_beside(service, facts, engine),
        lambda: check_parallelism(spec, facts, engine),
        lambda: None if accepted else check_files(spec, facts, engine),
        lambda: check_quantization(spec, facts),
        lambda: compatibility.extend(check_compatibility(spec, facts, checkpoint=facts.model.quantization)),
        lambda: images.append(choose_image(spec, facts)),
        lambda: None if accepted else refuse_what_cannot_fit(spec, fit),
        lambda: None if accepted else check_length(spec, facts, engine),
    )

    names, parallelism = choose_names(service), choose_parallelism(spec, facts, engine)
    version = chosen_version(spec, facts.version)
    source = choose_source(spec.model, engine, cached_model(service, facts, engine))
    task, beside = choose_task(spec, facts), choose_beside(service, facts, engine, source)
    dtype = choose_dtype(spec, facts, engine)
    resources = choose_resources(spec, facts, source, engine, context)
    drain = drain_seconds(spec)
    host, port = listens_on(spec, engine)
    launch = engine.launch(
        ServingRequest(
            names=names.value,
            model=source,
            version=facts.version,
            devices=facts.devices,
            parallelism=parallelism,
            max_model_len=context.max_model_len,
            max_num_seqs=context.max_num_seqs,
            drain_seconds=drain.value,
            drains_until_sent=drains_until_sent(facts),
            quantization=spec.quantization,
            dtype=dtype.value,
            kv_cache_dtype=spec.kv_cache_dtype or "",
            trust_remote_code=spec.model.trust_remote_code,
            cores=resources.cores,
            memory_bytes=resources.memory_bytes,
            offload_layers=spec.gpu.offload_layers,
            own_image=spec.engine_options.image is not None,
            keeps_compiled=spec.model.cache is not None,
            task=task.value,
            projector=beside.projector,
            draft=beside.draft,
            adapters=beside.adapters,
            live_adapters=spec.adapter_updates == "Live",
            host=host,
            port=port,
        )
    )
    (image,) = images
    startup = startup_seconds(spec, source, facts)
    shared_memory = choose_shared_memory(spec, engine, launch, facts.devices)
    grace = grace_seconds(launch)
    rollout = choose_rollout(spec, progress_deadline_seconds(startup.value, grace))
    several = replica_bound(spec) + rollout.value.max_surge > 1
    cache = choose_cache(service, facts, engine, beside=beside.downloads, several=several)
    placement = choose_placement(spec, facts)
    security = choose_security(spec, facts)
    compiled = compile_folder(cache.value, facts, image.value, security.pod) if cache.value else ""
    sizes = ScratchSizes(shared_memory.value, resources.disk)
    mounts = (*choose_mounts(spec, source, launch, sizes, compiled), *beside.mounts)
    named, serving = (names, version, image, task, context, dtype), (launch, resources, shared_memory)
    metric_names = metric_names_for(task.value, metric_names_of_engine(engine, facts.version))
    open_decisions = (*named, *serving, rollout, startup, drain, cache)

    return ServicePlan(
        owner=_owner(service),
        engine=engine.name,
        engine_version=version.value,
        model=spec.model.uri,
        names=names.value,
        quantization=next((each.value for each in launch.defaults if each.field == "quantization"), spec.quantization),
        accelerator=facts.accelerator.name if facts.accelerator else "",
        devices=facts.devices,
        parallelism=parallelism,
        resource_name=facts.accelerator.resource_name if facts.accelerator else "",
        max_model_len=context.max_model_len,
        max_num_seqs=context.max_num_seqs,
        container=plan_container(
            spec,
            facts.registry,
            beside.fetched(source),
            launch,
            image.value,
            startup.value,
            probe_seconds(startup.value, facts),
            resources,
        ),
        pod=plan_pod(spec, facts.registry, launch, grace, placement, security, mounts),
        rollout=in_place(rollout.value, cache.value),
        replica_bound=replica_bound(spec),
        scaling=choose_scaling(spec.autoscaling, metric_names) if spec.autoscaling else None,
        admitted=admitted_peers(spec, readers),
        pod_security=security.standard,
        defaults=tuple(each for decision in open_decisions for each in decision.defaults),
        notes=(
            *notes_on_model(spec, facts, source, cache.value),
            *placement.notes,
            *security.notes,
            *launch.notes,
            *compatibility,
        ),
        facts=facts_to_text(facts),
        render_version=facts.render_version,
        fit=fit,
        offload_layers=spec.gpu.offload_layers,
        verify_devices=spec.gpu.verify,
        cache=cache.value,
        task=task.value,
        adapters=beside.adapters,
        live_adapters=spec.adapter_updates == "Live",
        adapters_named=engine.capabilities.adapters is not None and engine.capabilities.adapters.named,
        proxy=choose_proxy(spec, facts, engine.capabilities, launch, resources, context.max_num_seqs),
    )


def _owner(service: LLMService) -> Owner:
    metadata = service.metadata
    return Owner(namespace=metadata.namespace, name=metadata.name, uid=metadata.uid, generation=metadata.generation)
