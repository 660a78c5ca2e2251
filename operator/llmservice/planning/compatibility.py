"""Whether an engine version can do on its device what the resource asks for: refused before a device is taken.

What is not recorded is never refused, and an image of the user's own is only warned about.
"""

from collections.abc import Iterator

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Accelerator
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.support import number_of
from llmservice.errors import InvalidSpec
from llmservice.planning.device_support import findings, variant_of
from llmservice.planning.device_wording import problem, way_out
from llmservice.planning.facts import Facts

_BFLOAT16 = (8, 0)
"""NVIDIA's first compute capability with bfloat16 ("Arithmetic Instructions" in the CUDA C++ Programming Guide)."""


def check_compatibility(spec: LLMServiceSpec, facts: Facts, *, checkpoint: str = "") -> tuple[str, ...]:
    """Notes for status.plan; raises InvalidSpec (UnsupportedByDevice) with a line for each problem.

    `checkpoint` is the quantization method of the checkpoint, read where `spec.quantization` is auto; empty when it is
    plain or not known.
    """
    if spec.engine_options.image is None or not (facts.accelerator and facts.accelerator.is_slice):
        _check_shares(facts)
    found = findings(spec, facts.version, facts.accelerator, checkpoint)
    if not found:
        return tuple(_driver(facts)) if spec.engine_options.image is None else ()
    if spec.engine_options.image is not None:
        return tuple(f"{each.field}: {problem(each, facts)}; make sure that your own image can" for each in found)
    first, *rest = (f"{problem(each, facts)}; {way_out(each, facts)}" for each in found)
    lines = (f"{each.field}: {line}" for each, line in zip(found[1:], rest, strict=True))
    raise InvalidSpec(Reason.UNSUPPORTED_BY_DEVICE, "\n".join((first, *lines)), field=found[0].field)


def _check_shares(facts: Facts) -> None:
    """Shares are handed out one by one: several may be of one device, and most nodes refuse to give a pod several.

    Of several slices a process is shown the first. Sources: NVIDIA's MIG user guide, "CUDA Device Enumeration";
    NVIDIA/k8s-device-plugin README, "failRequestsGreaterThanOne"; GKE's docs of time-sharing, "one GPU".
    """
    if facts.accelerator is None or facts.devices <= 1:
        return
    if facts.accelerator.is_slice:
        raise InvalidSpec(
            Reason.UNSUPPORTED_BY_DEVICE,
            f"a process sees one of {facts.devices} slices, whatever it is given; set spec.gpu.count: 1 with a larger "
            "slice, or for whole devices remove spec.gpu.resourceName",
            field="spec.gpu.count",
        )
    if facts.accelerator.shared:
        raise InvalidSpec(
            Reason.UNSUPPORTED_BY_DEVICE,
            f"{facts.devices} shares may all be of one device, and a node that shares its devices refuses the pod "
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


def _driver(facts: Facts) -> Iterator[str]:
    """What the node's driver must be: nobody can see it before a pod runs there."""
    version = facts.version
    support = version.support.get(variant_of(facts.accelerator))
    if support and support.driver:
        yield (
            f"the image of {version.engine} {version.version} needs driver {support.driver.least} or newer on the "
            f"node; with an older one {support.driver.way_out}"
        )
