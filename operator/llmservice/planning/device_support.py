"""What an engine version cannot do on a device, as findings: which field asks for it, and what would be needed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Accelerator
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.support import Support

CPU = "cpu"
"""The image variant for nodes without devices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`field` of the spec asks for `value`, which the image does not do on this device.

    `needs` is the least compute capability that does, `NEVER` where no device helps; empty when the image has no
    kernels for the device at all, and then `value` is the device's capability.
    """

    field: str
    value: str
    needs: str = ""


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
    return tuple(_asked(spec, support, capability, checkpoint))


def _asked(spec: LLMServiceSpec, support: Support, capability: str, checkpoint: str) -> Iterator[Finding]:
    asked = (
        ("model.uri", spec.model.uri.partition("://")[0]),
        ("quantization", checkpoint if spec.quantization == "auto" else spec.quantization),
        ("dtype", spec.dtype),
        ("kvCacheDtype", spec.kv_cache_dtype),
    )
    for name, value in asked:
        if value and (needs := support.need(name, value, capability)):
            yield Finding(field=f"spec.{name}", value=value, needs=needs)


def others_that_take(
    spec: LLMServiceSpec, version: EngineVersion, rows: Iterable[EngineVersion], accelerator: Accelerator | None
) -> tuple[str, ...]:
    """Other versions of the engine that can do what this one cannot, the newest first; empty when this one can."""
    if _takes(spec, version, accelerator):
        return ()
    others = [row for row in rows if row.version != version.version and _takes(spec, row, accelerator)]
    return tuple(row.version for row in reversed(others))


def _takes(spec: LLMServiceSpec, version: EngineVersion, accelerator: Accelerator | None) -> bool:
    known = spec.quantization == "auto" or spec.quantization in version.quantizations
    return known and variant_of(accelerator) in version.images and not findings(spec, version, accelerator)
