"""Pinned facts: everything planning reads besides the resource, chosen once per generation and kept with the plan.

So an edit of the catalogue, a changed setting or a newer operator never changes a running pod template.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.gpu import Gpu
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.accelerator import Accelerator, Json
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.recorded_arguments import check_recorded
from llmservice.engines.registry import engine_named
from llmservice.errors import InvalidSpec
from llmservice.models.model_facts import NOTHING_KNOWN, ModelFacts, known_values
from llmservice.objects.names import UPDATE_ANNOTATION
from llmservice.planning.device_support import engines_that_run_on, others_that_take, version_on
from llmservice.planning.gathering import gather
from llmservice.planning.known_model import KnownModel, ModelSourceName, known_model, what_is_asked
from llmservice.planning.proxied import is_proxied
from llmservice.planning.render_version import RENDER_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrySettings:
    """What an administrator sets for all pods of the cluster.

    `mirrors` maps a prefix of an image reference to its replacement (the longest match wins). `pull_secrets` are
    names of Secrets in the resource's namespace. `proxies` are environment variables (HTTPS_PROXY, NO_PROXY, …).
    """

    mirrors: Mapping[str, str] = field(default_factory=dict)
    pull_secrets: tuple[str, ...] = ()
    hf_endpoint: str = ""
    proxies: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The catalogue rows and settings of one plan.

    `accelerator` is None on CPU, and has no name when only its resource is known; `devices` of it are one replica's.
    `choice` is 0 for spec.gpu itself, else the number of the alternative, and `passed_over` says why not those before.
    `platform` names a labelling scheme of the accelerator catalogue; empty when it is not known. `update` is the value
    of the annotation that requested them. `model` is what is known of the model, and `model_source` from where;
    `model_note` says why nothing is known where that needs saying, and `model_asked` which model was inspected (empty
    where none was).
    `others` are versions of the engine that can do on this device what `version` cannot, `engines` those that run on it
    where `version` does not; both are empty when it can. `notes` are for `status.plan`: what was found when they were
    chosen. `weights` is what a download answered: the path of the model on the claim of `spec.model.cache`, empty until
    then. `slowest_start` is the longest start that was seen when they were chosen, in seconds: the budget follows it.
    `proxy` is the image of the proxy before the engine, empty where there is none.
    """

    version: EngineVersion
    accelerator: Accelerator | None
    registry: RegistrySettings
    platform: str
    render_version: int
    devices: int
    choice: int = 0
    passed_over: tuple[str, ...] = ()
    update: str = ""
    model: ModelFacts = NOTHING_KNOWN
    model_source: ModelSourceName = "nothing"
    model_note: str = ""
    model_asked: str = ""
    others: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    weights: str = ""
    slowest_start: int | None = None
    proxy: str = ""

    @property
    def device_name(self) -> str:
        """What one replica computes on, as messages name it."""
        return self.accelerator.shown_name if self.accelerator else "the CPU"


_FACTS = TypeAdapter(Facts)


def choose_facts(
    service: LLMService,
    catalogue: Catalogue,
    registry: RegistrySettings,
    platform: str,
    *,
    kept: str | None,
    model: KnownModel | None = None,
    choice: int = 0,
    passed_over: tuple[str, ...] = (),
) -> Facts:
    """The facts for a resource: those kept with the plan of this generation, else the current ones.

    Of a version only the flags that its engine renders are kept. `model` is what is known of the model; None asks
    resource and catalogue. `choice` is the number of the alternative to `spec.gpu`, and `passed_over` why not those
    before it. Raises InvalidSpec for names that have no row, and for arguments that the version does not know: both are
    checked here alone, so that no later catalogue refuses them.
    """
    options, named, update = service.spec.engine_options, service.spec.engine, update_of(service)
    if kept and (facts := facts_from_text(kept)) and (facts.version.engine, facts.update) == (named, update):
        return facts
    gpu = gpu_of(service.spec.gpu, choice)
    gather(
        lambda: catalogue.engine_version(engine_named(named).name, options.version),
        lambda: _accelerator(gpu, catalogue),
    )
    engine, version = engine_named(named), catalogue.engine_version(named, options.version)
    notes = check_recorded(engine, version, catalogue.engines[engine.name].recordings, options)
    accelerator, known = _accelerator(gpu, catalogue), model or known_model(service.spec, catalogue)
    return Facts(
        version=version_on(dataclasses.replace(version, flags=version.flags & engine.flags, removed={}), accelerator),
        accelerator=accelerator,
        devices=gpu.count,
        choice=choice,
        passed_over=passed_over,
        registry=registry,
        platform=platform,
        render_version=RENDER_VERSION,
        update=update,
        model=known.facts,
        model_source=known.source,
        model_note=known.note,
        model_asked=what_is_asked(service.spec) if known.source == "inspection" else "",
        others=others_that_take(service.spec, version, catalogue, accelerator, known.facts.quantization),
        engines=engines_that_run_on(version, catalogue, accelerator),
        notes=notes,
        slowest_start=learned_start(service),
        proxy=catalogue.proxy_image if is_proxied(service.spec, engine.capabilities) else "",
    )


def with_weights(facts: Facts, weights: str) -> Facts:
    """The facts with the path that a download answered; an empty one changes nothing."""
    return dataclasses.replace(facts, weights=weights) if weights and weights != facts.weights else facts


def learned_start(service: LLMService) -> int | None:
    """The slowest good start of the same model, in seconds: what `status.startup` tells; None where it does not."""
    startup = service.status.get("startup")
    if not isinstance(startup, Mapping) or startup.get("model") != service.spec.model.uri:
        return None
    seconds = startup.get("slowestSeconds")
    return seconds if isinstance(seconds, int) and not isinstance(seconds, bool) and seconds > 0 else None


def update_of(service: LLMService) -> str:
    """The value of the annotation that asks for current facts; empty without it."""
    return service.metadata.annotations.get(UPDATE_ANNOTATION, "")


def gpu_of(gpu: Gpu, choice: int) -> Gpu:
    """The devices of a choice: 0 is what `spec.gpu` itself says, 1 the first alternative."""
    if choice == 0:
        return gpu
    other = gpu.alternatives[choice - 1]
    return gpu.model_copy(update={"type": other.type, "count": other.count or gpu.count})


def pinned_facts(status: Mapping[str, Any], generation: int) -> str | None:
    """The facts that a resource's status keeps for this generation of its spec; None where it keeps none.

    Those of a change that waits stand apart from the plan, which is that of the replicas that run.
    """
    kept = (status.get("plan") or {}, (status.get("rollout") or {}).get("waiting") or {})
    return next((each.get("facts") for each in kept if each.get("generation") == generation), None)


def inspected_before(service: LLMService) -> KnownModel | None:
    """What an inspection for an earlier generation found of the same model; None where the resource wants none.

    So an edit of something else neither waits for another look, nor loses the facts while nobody can look.
    """
    facts = facts_from_text((service.status.get("plan") or {}).get("facts") or "")
    if facts is None or facts.model_source != "inspection" or service.spec.model.inspect == "Never":
        return None
    return KnownModel(facts.model, "inspection") if facts.model_asked == what_is_asked(service.spec) else None


def facts_to_text(facts: Facts) -> str:
    """The facts as compact JSON, the same text for the same facts. Only what is known of the model and of starts is."""
    fields = {field.name: getattr(facts, field.name) for field in dataclasses.fields(facts)}
    fields["model"] = known_values(facts.model)
    if not facts.weights:  # as before there was a cache: a new operator does not write every status again
        del fields["weights"]
    if facts.slowest_start is None:
        del fields["slowest_start"]
    if not facts.proxy:
        del fields["proxy"]
    return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS, default=sorted).decode()


@lru_cache(maxsize=256)
def facts_from_text(text: str) -> Facts | None:
    """The facts in a text; None when it is not valid. Fields of a newer operator are ignored.

    Cached: most resources of a cluster share the same few facts, and every reconcile reads them.
    """
    try:
        return _FACTS.validate_json(text)
    except ValidationError:
        return None


def _accelerator(gpu: Gpu, catalogue: Catalogue) -> Accelerator | None:
    """The row of spec.gpu.type, else what is known of spec.gpu.resourceName."""
    if gpu.count == 0:
        return None
    if gpu.type is not None:
        row = _row(catalogue, gpu.type, gpu.resource_name)
    else:
        row = _by_resource(catalogue, gpu.resource_name or "")
    return row.admitting(shared=gpu.shared or row.shared)


def _row(catalogue: Catalogue, name: str, resource_name: str | None) -> Accelerator:
    """An unknown name is allowed when the resource name is set: then it selects no nodes."""
    try:
        row = catalogue.accelerator(name)
    except InvalidSpec as unknown:
        if resource_name is None or unknown.reason != Reason.UNKNOWN_ACCELERATOR:
            raise
        return _by_resource(catalogue, resource_name)
    return _with_resource(row, resource_name, catalogue) if resource_name else row


def _with_resource(row: Accelerator, resource_name: str, catalogue: Catalogue) -> Accelerator:
    """The type selects nodes; groups and seccomp profile are those of the device resource that the pod requests.

    A slice has less memory than the whole device, and of a shared one nobody knows how much is the pod's.
    """
    device = _by_resource(catalogue, resource_name)
    return dataclasses.replace(
        row,
        resource_name=resource_name,
        memory_gib=device.memory_gib if device.memory_gib or device.shared else row.memory_gib,
        shared=device.shared,
        supplemental_groups=device.supplemental_groups,
        seccomp_profile=device.seccomp_profile,
    )


def _by_resource(catalogue: Catalogue, resource_name: str) -> Accelerator:
    vendor = catalogue.device(resource_name)
    if vendor is None:
        return Accelerator(name="", vendor="", resource_name=resource_name, image_variant="")
    return dataclasses.replace(vendor, resource_name=resource_name)
