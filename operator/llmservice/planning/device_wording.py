"""The words for what a version cannot do on a device, and for what can."""

from llmservice.catalog.support import NEVER
from llmservice.engines.registry import engine_named
from llmservice.planning.device_support import Finding, variant_of
from llmservice.planning.facts import Facts

_OWN_IMAGE = "set spec.engineOptions.image and version to your own"


def problem(found: Finding, facts: Facts) -> str:
    """What is asked for, what that needs, and what the device has; without a full stop."""
    version, accelerator = facts.version, facts.accelerator
    variant = variant_of(accelerator)
    image = f"the {variant} image of {version.engine} {version.version}"
    if not found.needs:
        return f"{image} has no kernels for {facts.device_name} ({found.value})"
    if found.field in {"spec.gpu.type", "spec.pod.nodeSelector"}:
        return f"{image} exists for {', '.join(version.support[variant].machines)} only, not for {found.value}"
    if found.field == "spec.model.uri" and not found.of_checkpoint:
        return f"{image} has no loader for {found.value}://"
    if found.needs == NEVER or accelerator is None:
        return f"{image} does not take {found.value}"
    has = f"{facts.device_name} has {accelerator.capability}"
    return f"{image} takes {found.value} from compute capability {found.needs} on, {has}"


def way_out(found: Finding, facts: Facts) -> str:
    """What can be done instead: another version or engine that can, then the field itself."""
    ways = [_otherwise(found, facts)]
    if facts.engines:
        ways.insert(0, f"set spec.engine to {' or '.join(map(_engine, facts.engines))}")
    if facts.others:
        ways.insert(0, f"set spec.engineOptions.version to {' or '.join(facts.others)}")
    return ", or ".join(ways)


def _engine(name: str) -> str:
    """An engine with what it needs beside its name."""
    return f"{name} (with a GGUF file)" if engine_named(name).capabilities.gguf else name


def _otherwise(found: Finding, facts: Facts) -> str:
    if found.of_checkpoint:
        _, *others = _quantizations(found, facts)
        return f"use a checkpoint of another quantization ({', '.join(others)}), or choose another spec.gpu.type"
    if found.field == "spec.gpu.type":
        return f"choose another spec.gpu.type, or {_OWN_IMAGE}"
    if found.field == "spec.pod.nodeSelector":
        return f"remove the label, or {_OWN_IMAGE}"
    if found.field == "spec.model.uri":
        return "set spec.model.cache, or use hf:// or pvc://"
    if found.field == "spec.quantization":
        return f"use one of: {', '.join(_quantizations(found, facts))}"
    return "set it to float16, or omit it" if found.field == "spec.dtype" else "omit the field"


def _quantizations(found: Finding, facts: Facts) -> list[str]:
    """What the device takes of the same kind: made on load, or of a checkpoint."""
    version, accelerator = facts.version, facts.accelerator
    support, capability = version.support[variant_of(accelerator)], accelerator.capability if accelerator else ""
    kind = found.value in version.on_load
    same = (name for name in version.quantizations if (name in version.on_load) == kind)
    return ["auto", *(name for name in same if not support.need("quantization", name, capability))]
