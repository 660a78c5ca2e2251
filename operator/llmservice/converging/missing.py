"""Messages of scheduler and kubelet about a missing Secret, ConfigMap or PersistentVolumeClaim.

All of these recover by themselves when the object appears, so none is ever Stalled. The texts are those of Kubernetes
(pkg/kubelet/kubelet_pods.go, pkg/scheduler/framework/plugins/volumebinding), recorded on 1.34.
"""

from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.redaction import LONGEST_TEXT, redacted
from llmservice.untrusted.patterns import Pattern, compiled

_LONGEST_NAME = 253
"""Characters in the name of a Kubernetes object."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A pattern, its reason and the remedy, which may use the pattern's groups and `namespace`."""

    pattern: Pattern
    reason: Reason
    remedy: str


MISSING = (
    Missing(
        compiled(r"couldn't find key (?P<key>[^\s]+) in Secret (?:[^/\s]+/)?(?P<name>[^\s,;]+)"),
        Reason.SECRET_NOT_FOUND,
        "Secret {name} has no key {key}: add the key, or reference another one",
    ),
    Missing(
        compiled(r'secret "?(?P<name>[^"\s]+)"? not found'),
        Reason.SECRET_NOT_FOUND,
        "Secret {name} does not exist: create it in namespace {namespace}",
    ),
    Missing(
        compiled(r"couldn't find key (?P<key>[^\s]+) in ConfigMap (?:[^/\s]+/)?(?P<name>[^\s,;]+)"),
        Reason.CONFIG_MAP_NOT_FOUND,
        "ConfigMap {name} has no key {key}: add the key, or reference another one",
    ),
    Missing(
        compiled(r'configmap "?(?P<name>[^"\s]+)"? not found'),
        Reason.CONFIG_MAP_NOT_FOUND,
        "ConfigMap {name} does not exist: create it in namespace {namespace}",
    ),
    Missing(
        compiled(r"references non-existent (?:config|secret) key: (?P<key>[^\s]+)"),
        Reason.VOLUME_MOUNT_FAILED,
        "the Secret or ConfigMap of a mounted file has no key {key}: add the key, or correct spec.engineOptions.files "
        "or spec.auth.keysSecretRef",
    ),
    Missing(
        compiled(r'persistentvolumeclaim "(?P<name>[^"]+)" not found'),
        Reason.CLAIM_NOT_FOUND,
        "PersistentVolumeClaim {name} does not exist: create it in namespace {namespace}, or correct its name",
    ),
    Missing(
        compiled(r'could not find v1\.PersistentVolumeClaim "(?:[^/"]+/)?(?P<name>[^"]+)"'),
        Reason.CLAIM_NOT_FOUND,
        "PersistentVolumeClaim {name} does not exist: create it in namespace {namespace}, or correct its name",
    ),
    Missing(
        compiled(r'persistentvolumeclaim "(?P<name>[^"]+)" (?:is being deleted|bound to non-existent)'),
        Reason.CLAIM_NOT_FOUND,
        "PersistentVolumeClaim {name} is being deleted or lost its volume: create it again in namespace {namespace}",
    ),
    Missing(
        compiled(r"unbound immediate PersistentVolumeClaims"),
        Reason.CLAIM_NOT_BOUND,
        "the PersistentVolumeClaim of spec.model is not bound to a volume: check its StorageClass and size",
    ),
)


def find_missing(text: str, namespace: str, since: str = "") -> Diagnosis | None:
    """The first missing object that a text names; None when it names none. `since` is an RFC 3339 time."""
    for missing in MISSING:
        if match := missing.pattern.first(text[:LONGEST_TEXT]):
            named = {group: redacted(name, _LONGEST_NAME) for group, name in match.groups().items()}
            message = missing.remedy.format(namespace=namespace, **named)
            return Diagnosis(reason=missing.reason, message=message, self_healing=True, since=since)
    return None
