"""Who writes `replicas`: the value the operator applies, or none while another field manager owns it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.objects.names import AUTOSCALER, BEFORE_SUSPEND_ANNOTATION, OPERATOR
from llmservice.objects.references import Manifest
from llmservice.objects.workloads import is_workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """What the Deployment's intent says about replicas.

    `value` None leaves the field to its owner. `before_suspend` is kept in an annotation while suspended.
    `live` is true when the value only repeats the live one, so it must not overwrite a newer one.
    """

    value: int | None
    before_suspend: int | None = None
    live: bool = False


def replicas_to_state(
    *,
    fixed: int | None,
    suspend: bool,
    minimum: int,
    maximum: int | None = None,
    deployment: Manifest | None,
    scaled: bool = True,
) -> Replicas:
    """The replicas to put into the Deployment's intent; without a `maximum` nothing bounds them.

    `scaled`: the operator's autoscaler decides them, so that it brings back what it let sleep.

    | state                          | value                                          |
    |--------------------------------|------------------------------------------------|
    | suspended                      | 0; what ran before is kept                     |
    | fixed                          | the fixed value                                |
    | no Deployment yet              | minimum                                        |
    | resumed                        | what ran before, within minimum and maximum    |
    | put to sleep, not scaled since | minimum: nobody would wake it                  |
    | owned by another manager       | none: an apply without it gives up ownership   |
    | otherwise                      | the live value                                 |

    The live value is repeated until another manager owns the field, because an apply that drops a field of which we are
    the only owner resets it to 1 (a Deployment's default).
    """
    if suspend:
        return Replicas(value=0, before_suspend=_ran_before(deployment, fixed or minimum))
    if fixed is not None:
        return Replicas(value=fixed)
    if deployment is None or (not scaled and _was_left_asleep(deployment)):
        return Replicas(value=minimum)
    if is_emptied(deployment):
        before = max(minimum, _ran_before(deployment, minimum))
        return Replicas(value=before if maximum is None else min(maximum, before))
    if owned_by_another(deployment):
        return Replicas(value=None)
    return Replicas(value=live_replicas(deployment), live=True)


def stating(manifests: Iterable[Manifest], replicas: Replicas) -> list[Manifest]:
    """The manifests with these replicas in the workload, and the annotation of a suspension in the same write."""
    return [_stating(manifest, replicas) if is_workload(manifest) else manifest for manifest in manifests]


def live_replicas(deployment: Manifest) -> int:
    """The replicas a Deployment asks for; the API server's default is 1."""
    return int(deployment["spec"].get("replicas", 1))


def owned_by_another(deployment: Manifest) -> bool:
    """Whether a manager other than the operator owns `spec.replicas`."""
    return bool(owners_of_replicas(deployment) - {OPERATOR})


def owners_of_replicas(deployment: Manifest) -> frozenset[str]:
    """The managers that own `spec.replicas`: several where they set the same number."""
    entries = deployment["metadata"].get("managedFields") or ()
    return frozenset(str(entry.get("manager")) for entry in entries if _owns_replicas(entry))


def is_emptied(deployment: Manifest) -> bool:
    """Whether the operator scaled it to zero for a suspension and has not applied other replicas since."""
    return BEFORE_SUSPEND_ANNOTATION in _annotations(deployment)


def _was_left_asleep(deployment: Manifest) -> bool:
    """Whether the autoscaler set it to zero, and nobody else has touched it since."""
    owners = owners_of_replicas(deployment)
    return live_replicas(deployment) == 0 and AUTOSCALER in owners and owners <= {OPERATOR, AUTOSCALER}


def _owns_replicas(entry: Mapping[str, Any]) -> bool:
    fields = entry.get("fieldsV1") or {}
    return "f:replicas" in (fields.get("f:spec") or {})


def _stating(deployment: Manifest, replicas: Replicas) -> Manifest:
    spec, metadata = deployment["spec"], deployment["metadata"]
    if replicas.value is not None:
        spec = {**spec, "replicas": replicas.value}
    if replicas.before_suspend is not None:
        note = {BEFORE_SUSPEND_ANNOTATION: str(replicas.before_suspend)}
        metadata = {**metadata, "annotations": {**metadata.get("annotations", {}), **note}}
    return {**deployment, "metadata": metadata, "spec": spec}


def _annotations(deployment: Manifest) -> Mapping[str, str]:
    return deployment["metadata"].get("annotations") or {}


def _ran_before(deployment: Manifest | None, otherwise: int) -> int:
    """The replicas before the suspension: from the annotation, or the live ones when it begins."""
    if deployment is None:
        return otherwise
    kept = _annotations(deployment).get(BEFORE_SUSPEND_ANNOTATION, "")
    return int(kept) if kept.isdecimal() and len(kept) < 7 else live_replicas(deployment)  # noqa: PLR2004
