"""The decisions about one resource in their order: each has a file of its own, and several need an earlier one."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.engines.engine import Default, Engine, Launch, ModelSource, ServingRequest
from llmservice.engines.parallelism import Parallelism
from llmservice.models.model_facts import Task
from llmservice.planning.beside import Beside, choose_beside
from llmservice.planning.cache import cached_model, choose_cache
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.context import Context
from llmservice.planning.decided import Decided
from llmservice.planning.drain import drain_seconds, drains_until_sent, grace_seconds
from llmservice.planning.facts import Facts
from llmservice.planning.names import choose_names, chosen_version
from llmservice.planning.nodes import devices_of, nodes_of
from llmservice.planning.number_formats import choose_dtype
from llmservice.planning.parallelism import choose_parallelism
from llmservice.planning.placement import Placement, choose_placement
from llmservice.planning.proxy import listens_on
from llmservice.planning.resources import ContainerResources, choose_resources
from llmservice.planning.rollout import choose_rollout
from llmservice.planning.scaling import replica_bound
from llmservice.planning.security import Security, choose_security
from llmservice.planning.service_plan import RolloutPlan
from llmservice.planning.shared_memory import choose_shared_memory
from llmservice.planning.startup import progress_deadline_seconds, startup_seconds
from llmservice.planning.task import choose_task
from llmservice.planning.weights import choose_source


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What the engine is asked to do: decided before its command line. `drain` is in seconds."""

    names: Decided[tuple[str, ...]]
    version: Decided[str]
    task: Decided[Task]
    dtype: Decided[str]
    drain: Decided[int]
    source: ModelSource
    beside: Beside
    parallelism: Parallelism
    context: Context
    resources: ContainerResources


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What its start needs around it: decided by its command line. `grace` and `startup` are in seconds."""

    grace: int
    startup: Decided[int]
    shared_memory: Decided[str]
    rollout: Decided[RolloutPlan]
    cache: Decided[CachePlan | None]
    placement: Placement
    security: Security


def decide_subject(service: LLMService, facts: Facts, engine: Engine, context: Context) -> Subject:
    """Raises InvalidSpec naming the field."""
    spec = service.spec
    source = choose_source(spec.model, engine, cached_model(service, facts, engine))
    return Subject(
        names=choose_names(service),
        version=chosen_version(spec, facts.version),
        task=choose_task(spec, facts),
        dtype=choose_dtype(spec, facts, engine),
        drain=drain_seconds(spec),
        source=source,
        beside=choose_beside(service, facts, engine, source),
        parallelism=choose_parallelism(spec, facts, engine),
        context=context,
        resources=choose_resources(spec, facts, source, engine, context),
    )


def decide_launch(service: LLMService, facts: Facts, engine: Engine, subject: Subject) -> Launch:
    """The engine's own decision: its command line, environment, files, probes."""
    spec, beside = service.spec, subject.beside
    host, port = listens_on(spec, engine)
    return engine.launch(
        ServingRequest(
            names=subject.names.value,
            model=subject.source,
            version=facts.version,
            devices=devices_of(spec, facts),
            nodes=nodes_of(spec),
            parallelism=subject.parallelism,
            max_model_len=subject.context.max_model_len,
            max_num_seqs=subject.context.max_num_seqs,
            drain_seconds=subject.drain.value,
            drains_until_sent=drains_until_sent(facts),
            quantization=spec.quantization,
            dtype=subject.dtype.value,
            kv_cache_dtype=spec.kv_cache_dtype or "",
            trust_remote_code=spec.model.trust_remote_code,
            cores=subject.resources.cores,
            memory_bytes=subject.resources.memory_bytes,
            offload_layers=spec.gpu.offload_layers,
            own_image=spec.engine_options.image is not None,
            keeps_compiled=spec.model.cache is not None,
            task=subject.task.value,
            projector=beside.projector,
            draft=beside.draft,
            adapters=beside.adapters,
            live_adapters=spec.adapter_updates == "Live",
            host=host,
            port=port,
        )
    )


def decide_surroundings(
    service: LLMService, facts: Facts, engine: Engine, subject: Subject, launch: Launch
) -> Surroundings:
    """Raises InvalidSpec naming the field."""
    spec, grace = service.spec, grace_seconds(launch)
    startup = startup_seconds(spec, subject.source, facts)
    shared_memory = choose_shared_memory(spec, engine, launch, facts.devices)
    rollout = choose_rollout(spec, progress_deadline_seconds(startup.value, grace))
    several = replica_bound(spec) * nodes_of(spec) + rollout.value.max_surge > 1
    return Surroundings(
        grace=grace,
        startup=startup,
        shared_memory=shared_memory,
        rollout=rollout,
        cache=choose_cache(service, facts, engine, beside=subject.beside.downloads, several=several),
        placement=choose_placement(spec, facts),
        security=choose_security(spec, facts),
    )


def defaults_of(
    image: Decided[str], subject: Subject, launch: Launch, surroundings: Surroundings
) -> tuple[Default, ...]:
    """What the resource left open, in the order in which people are told."""
    decisions = (
        *(subject.names, subject.version, image, subject.task, subject.context, subject.dtype),
        *(launch, subject.resources, surroundings.shared_memory),
        *(surroundings.rollout, surroundings.startup, subject.drain, surroundings.cache),
    )
    return tuple(each for decision in decisions for each in decision.defaults)
