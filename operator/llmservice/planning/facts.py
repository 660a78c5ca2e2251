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
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.accelerator import Accelerator, Json
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.recorded_arguments import check_recorded
from llmservice.engines.registry import engine_named
from llmservice.errors import InvalidSpec
from llmservice.objects.names import UPDATE_ANNOTATION
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

    `accelerator` is None on CPU, and has no name when only its resource is known. `platform` names a labelling
    scheme of the accelerator catalogue; empty when it is not known. `update` is the value of the annotation that
    requested them. `notes` are for `status.plan`: what was found when they were chosen.
    """

    version: EngineVersion
    accelerator: Accelerator | None
    registry: RegistrySettings
    platform: str
    render_version: int
    update: str = ""
    notes: tuple[str, ...] = ()


_FACTS = TypeAdapter(Facts)


def choose_facts(
    service: LLMService, catalogue: Catalogue, registry: RegistrySettings, platform: str, *, kept: str | None
) -> Facts:
    """The facts for a resource: those kept with the plan of this generation, else the current ones.

    Of a version only the flags that its engine renders are kept. Raises InvalidSpec for names that have no row, and for
    arguments that the version does not know: both are checked here alone, so that no later catalogue refuses them.
    """
    engine, update = engine_named(service.spec.engine), service.metadata.annotations.get(UPDATE_ANNOTATION, "")
    if kept and (facts := facts_from_text(kept)) and (facts.version.engine, facts.update) == (engine.name, update):
        return facts
    options = service.spec.engine_options
    version = catalogue.engine_version(engine.name, options.version)
    notes = check_recorded(engine, version, catalogue.engines[engine.name].recordings, options)
    return Facts(
        version=dataclasses.replace(version, flags=version.flags & engine.flags, removed={}),
        accelerator=_accelerator(service, catalogue),
        registry=registry,
        platform=platform,
        render_version=RENDER_VERSION,
        update=update,
        notes=notes,
    )


def pinned_facts(status: Mapping[str, Any], generation: int) -> str | None:
    """The facts that a resource's status keeps for this generation of its spec; None where it keeps none."""
    plan = status.get("plan") or {}
    return plan.get("facts") if plan.get("generation") == generation else None


def facts_to_text(facts: Facts) -> str:
    """The facts as compact JSON, the same text for the same facts."""
    return orjson.dumps(facts, option=orjson.OPT_SORT_KEYS, default=sorted).decode()


@lru_cache(maxsize=256)
def facts_from_text(text: str) -> Facts | None:
    """The facts in a text; None when it is not valid. Fields of a newer operator are ignored.

    Cached: most resources of a cluster share the same few facts, and every reconcile reads them.
    """
    try:
        return _FACTS.validate_json(text)
    except ValidationError:
        return None


def _accelerator(service: LLMService, catalogue: Catalogue) -> Accelerator | None:
    """The row of spec.gpu.type, else what is known of spec.gpu.resourceName."""
    gpu = service.spec.gpu
    if gpu.count == 0:
        return None
    if gpu.type is not None:
        return _row(catalogue, gpu.type, gpu.resource_name)
    return _by_resource(catalogue, gpu.resource_name or "")


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
    """The type selects nodes; groups and seccomp profile are those of the device resource that the pod requests."""
    device = _by_resource(catalogue, resource_name)
    return dataclasses.replace(
        row,
        resource_name=resource_name,
        supplemental_groups=device.supplemental_groups,
        seccomp_profile=device.seccomp_profile,
    )


def _by_resource(catalogue: Catalogue, resource_name: str) -> Accelerator:
    vendor = catalogue.device(resource_name)
    if vendor is None:
        return Accelerator(name="", vendor="", resource_name=resource_name, image_variant="")
    return dataclasses.replace(vendor, resource_name=resource_name)
