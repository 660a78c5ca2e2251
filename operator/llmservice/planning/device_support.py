"""What an engine version cannot do on a device, as findings: which field asks for it, and what would be needed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Accelerator
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.support import NEVER, Support

CPU = "cpu"
"""The image variant for nodes without devices."""

MACHINE = "kubernetes.io/arch"
"""The node label that tells the machine: amd64, arm64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`field` of the spec asks for `value`, which the image does not do on this device.

    `needs` is the least compute capability that does, `NEVER` where none helps; empty when the image has no kernels for
    the device at all, and then `value` is the device's capability. A machine that it does not exist for is a value too.
    `of_checkpoint`: the quantization is the checkpoint's own, and only another one helps.
    """

    field: str
    value: str
    needs: str = ""
    of_checkpoint: bool = False


def variant_of(accelerator: Accelerator | None) -> str:
    """The image variant for a device; that for the CPU without one."""
    return accelerator.image_variant if accelerator else CPU


def version_on(version: EngineVersion, accelerator: Accelerator | None) -> EngineVersion:
    """The version with only what matters of its `support` on this device."""
    return version.on(variant_of(accelerator), accelerator.capability if accelerator else "")


def findings(
    spec: LLMServiceSpec, version: EngineVersion, accelerator: Accelerator | None, checkpoint: str = ""
) -> tuple[Finding, ...]:
    """What this version cannot do there, the device itself first; `checkpoint` is the method of a quantized one."""
    support = version.support.get(variant_of(accelerator))
    if support is None:
        return ()
    capability = accelerator.capability if accelerator else ""
    if not support.runs_on(capability):
        return (Finding(field="spec.gpu.type", value=capability),)
    return (*_machines(spec, support, accelerator), *_asked(spec, support, capability, checkpoint))


def _machines(spec: LLMServiceSpec, support: Support, accelerator: Accelerator | None) -> Iterator[Finding]:
    """CPUs that the image does not exist for."""
    wanted = (
        ("spec.gpu.type", accelerator.machine if accelerator else ""),
        ("spec.pod.nodeSelector", spec.pod.node_selector.get(MACHINE, "")),
    )
    for name, machine in wanted:
        if machine and support.machines and machine not in support.machines:
            yield Finding(field=name, value=machine, needs=NEVER)


def _asked(spec: LLMServiceSpec, support: Support, capability: str, checkpoint: str) -> Iterator[Finding]:
    if spec.quantization == "auto" and (needs := support.need("quantization", checkpoint, capability)):
        yield Finding(field="spec.model.uri", value=checkpoint, needs=needs, of_checkpoint=True)
    asked = (
        ("model.uri", "" if spec.model.cache else spec.model.uri.partition("://")[0]),
        ("quantization", spec.quantization),
        ("dtype", spec.dtype),
        ("kvCacheDtype", spec.kv_cache_dtype),
    )
    for name, value in asked:
        if value and (needs := support.need(name, value, capability)):
            yield Finding(field=f"spec.{name}", value=value, needs=needs)


def others_that_take(
    spec: LLMServiceSpec,
    version: EngineVersion,
    catalogue: Catalogue,
    accelerator: Accelerator | None,
    checkpoint: str = "",
) -> tuple[str, ...]:
    """Versions of the engine that can do what this one cannot, the newest first; empty when this one can.

    One that no longer has the `checkpoint`'s quantization, which this version has, is none of them.
    """
    if _takes(spec, version, accelerator, checkpoint):
        return ()
    had = {checkpoint} & set(version.quantizations)
    rows = [row for row in catalogue.versions(version.engine) if had <= set(row.quantizations)]
    return tuple(row.version for row in reversed(rows) if _takes(spec, row, accelerator, checkpoint))


def types_that_take(
    spec: LLMServiceSpec, version: EngineVersion, types: Iterable[Accelerator], checkpoint: str = ""
) -> Iterator[Accelerator]:
    """The types on which this version can do all that the resource asks for. An image of the user's own may do more."""
    own = spec.engine_options.image is not None
    for each in types:
        if own or (each.image_variant in version.images and not findings(spec, version, each, checkpoint)):
            yield each


def engines_that_run_on(
    version: EngineVersion, catalogue: Catalogue, accelerator: Accelerator | None
) -> tuple[str, ...]:
    """Engines whose default version is known to run on the device, where this version does not; else empty."""
    variant = variant_of(accelerator)
    support = version.support.get(variant)
    if accelerator is None or support is None or support.runs_on(accelerator.capability):
        return ()
    defaults = (catalogue.engine_version(name, None) for name in catalogue.engines if name != version.engine)
    cells = ((row.engine, row.support.get(variant)) for row in defaults if variant in row.images)
    return tuple(name for name, cell in cells if cell and cell.surely_runs_on(accelerator.capability))


def _takes(spec: LLMServiceSpec, version: EngineVersion, accelerator: Accelerator | None, checkpoint: str) -> bool:
    known = spec.quantization == "auto" or spec.quantization in version.quantizations
    return known and variant_of(accelerator) in version.images and not findings(spec, version, accelerator, checkpoint)
