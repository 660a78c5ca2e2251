"""The claim that the operator makes for the weights of a service."""

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, controller_uid
from llmservice.planning.cache_plan import OwnedClaim
from llmservice.rendering.job_parts import labels, owned_by

_LABELS = labels("weights", "weights")


def owned_claim(service: LLMService, name: str, owned: OwnedClaim) -> Manifest:
    """The claim. One that is retained has no owner, so that it outlives the service; a later one of its name finds it.

    It is made once and never changed: an edit of size or class is for `kubectl edit pvc`.
    """
    metadata: Manifest = {
        "name": name,
        "namespace": service.metadata.namespace,
        "labels": {**_LABELS, NAME_LABEL: service.metadata.name},
    }
    if not owned.retained:
        metadata["ownerReferences"] = owned_by(service)
    spec: Manifest = {
        "accessModes": list(owned.access_modes),
        "resources": {"requests": {"storage": owned.size}},
    }
    if owned.storage_class:
        spec["storageClassName"] = owned.storage_class
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def is_own_claim(live: Manifest, service: LLMService) -> bool:
    """Whether a claim was made for this service, or for one of its name before it and retained."""
    if owner := controller_uid(live):
        return owner == service.metadata.uid
    found = live["metadata"].get("labels") or {}
    return found.items() >= {**_LABELS, NAME_LABEL: service.metadata.name}.items()
