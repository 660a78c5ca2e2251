"""Which image runs: the user's own, or the catalogue's for the device, from the cluster's mirror."""

from collections.abc import Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.errors import InvalidSpec
from llmservice.planning.decided import Decided, default
from llmservice.planning.device_support import variant_of
from llmservice.planning.facts import Facts


def choose_image(spec: LLMServiceSpec, facts: Facts) -> Decided[str]:
    """The image to run; raises InvalidSpec when the catalogue has none for the device.

    The user's own image is used as written: mirrors do not apply.
    """
    if spec.engine_options.image is not None:
        return Decided(spec.engine_options.image)
    version, variant = facts.version, variant_of(facts.accelerator)
    image = version.images.get(variant)
    if image is None:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            f"{version.engine} {version.version} has no image for {facts.device_name} "
            f"(only for {', '.join(version.images)}); {_versions(facts)}set spec.engineOptions.image and version to "
            "your own, or choose another device or engine",
            field="spec.gpu",
        )
    reference = mirrored(image, facts.registry.mirrors)
    reason = f"the {variant} image of {version.engine} {version.version}"
    if reference != image:
        reason += f" ({image}), from the cluster's mirror"
    return Decided(reference, default("engineOptions.image", reference, reason))


def _versions(facts: Facts) -> str:
    """The versions that have one, as the beginning of the ways out."""
    return f"set spec.engineOptions.version to {' or '.join(facts.others)}, or " if facts.others else ""


def mirrored(image: str, mirrors: Mapping[str, str]) -> str:
    """The reference with its longest matching prefix replaced; a prefix matches whole parts of the name.

    A short name (`owner/name:1`) matches as written and in its full form (`docker.io/owner/name:1`).
    """
    found = [
        (len(prefix), mirrors[prefix].rstrip("/") + spelling[len(prefix.rstrip("/")) :])
        for spelling in (_with_registry(image), image)
        for prefix in mirrors
        if spelling == prefix or spelling.startswith(prefix.rstrip("/") + "/")
    ]
    return max(found, default=(0, image))[1]


def _with_registry(image: str) -> str:
    """The full form: the first part is a registry if it looks like a host name."""
    first, slash, _ = image.partition("/")
    if not slash:
        return f"docker.io/library/{image}"
    return image if "." in first or ":" in first or first == "localhost" else f"docker.io/{image}"
