"""Whether an engine version can do on its device what the resource asks for: refused before a device is taken.

What is not recorded is never refused, and an image of the user's own is only warned about.
"""

from collections.abc import Iterator

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Accelerator
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.support import NEVER, number_of
from llmservice.errors import InvalidSpec
from llmservice.planning.device_support import Finding, findings, variant_of
from llmservice.planning.facts import Facts

_BFLOAT16 = (8, 0)
"""NVIDIA's first compute capability with bfloat16 ("Arithmetic Instructions" in the CUDA C++ Programming Guide)."""


def check_compatibility(spec: LLMServiceSpec, facts: Facts, *, checkpoint: str = "") -> tuple[str, ...]:
    """Notes for status.plan; raises InvalidSpec (UnsupportedByDevice) with a line for each problem.

    `checkpoint` is the quantization method of the checkpoint, read where `spec.quantization` is auto; empty when it is
    plain or not known.
    """
    _check_shares(spec, facts.accelerator)
    found = findings(spec, facts.version, facts.accelerator, checkpoint)
    sentences = [_sentence(each, facts) for each in found]
    if spec.engine_options.image is not None:
        return tuple(
            f"{each.field}: {what}, unless your own image can" for each, what in zip(found, sentences, strict=True)
        )
    if found:
        rest = (f"\n{each.field}: {what}" for each, what in zip(found[1:], sentences[1:], strict=True))
        message = f"{sentences[0]}{''.join(rest)}; {_way_out(found[0], facts)}"
        raise InvalidSpec(Reason.UNSUPPORTED_BY_DEVICE, message, field=found[0].field)
    return tuple(_driver(facts))


def _check_shares(spec: LLMServiceSpec, accelerator: Accelerator | None) -> None:
    """Shares are handed out one by one: several may be of one device, and most nodes refuse to give a pod several.

    Sources: NVIDIA/k8s-device-plugin README, "failRequestsGreaterThanOne"; GKE's docs of time-sharing, "one GPU".
    """
    if accelerator and accelerator.shared and spec.gpu.count > 1:
        raise InvalidSpec(
            Reason.UNSUPPORTED_BY_DEVICE,
            f"{spec.gpu.count} shares may all be of one device, and a node that shares its devices refuses the pod "
            "(UnexpectedAdmissionError); set spec.gpu.count: 1, or for whole devices remove spec.gpu.shared and "
            "spec.gpu.resourceName",
            field="spec.gpu.count",
        )


def has_bfloat16(accelerator: Accelerator | None, version: EngineVersion) -> bool | None:
    """Whether the device computes in bfloat16 and the version uses it; None when that is not known."""
    if accelerator is None or not accelerator.capability:
        return None
    number, support = number_of(accelerator.capability), version.support.get(accelerator.image_variant)
    if number is not None and number < _BFLOAT16:
        return False
    return None if support is None else not support.need("dtype", "bfloat16", accelerator.capability)


def _sentence(found: Finding, facts: Facts) -> str:
    version, accelerator = facts.version, facts.accelerator
    image = f"the {variant_of(accelerator)} image of {version.engine} {version.version}"
    device = (accelerator.name or accelerator.resource_name) if accelerator else "the CPU"
    if not found.needs:
        return f"{image} has no kernels for {device} ({found.value})"
    if found.needs == NEVER or accelerator is None:
        return f"{image} does not take {found.value}"
    return (
        f"{image} takes {found.value} from compute capability {found.needs} on; {device} has {accelerator.capability}"
    )


def _way_out(found: Finding, facts: Facts) -> str:
    if not found.needs:
        other = "choose another spec.gpu.type or spec.engine, or set spec.engineOptions.image and version to your own"
    else:
        other = "choose another value or omit the field, or choose another spec.gpu.type"
    if not facts.others:
        return other
    return f"set spec.engineOptions.version to {' or '.join(facts.others)}, or {other}"


def _driver(facts: Facts) -> Iterator[str]:
    """What the node's driver must be: nobody can see it before a pod runs there."""
    version = facts.version
    support = version.support.get(variant_of(facts.accelerator))
    if support and support.driver:
        yield (
            f"the image of {version.engine} {version.version} needs driver {support.driver.least} or newer on the "
            f"node; with an older one {support.driver.way_out}"
        )
