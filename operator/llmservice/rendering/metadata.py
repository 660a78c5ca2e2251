"""Names, labels and owner references of the children."""

from llmservice.api.v1alpha1.resource import GROUP, KIND, VERSION
from llmservice.objects.groups import LEADER, WORKER_LABEL
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan


def selector(plan: ServicePlan) -> dict[str, str]:
    """The labels that select the pods; a Deployment's selector can never change."""
    return {NAME_LABEL: plan.owner.name}


def answering_selector(plan: ServicePlan) -> dict[str, str]:
    """The labels of the pods that answer clients: of a group its first."""
    return selector(plan) if plan.worker is None else {**selector(plan), WORKER_LABEL: LEADER}


def labels(plan: ServicePlan) -> dict[str, str]:
    """The labels of every child.

    `app.kubernetes.io/instance` is not among them: Argo CD uses it as its own tracking label.
    """
    return {
        NAME_LABEL: plan.owner.name,
        "app.kubernetes.io/name": plan.engine,
        "app.kubernetes.io/component": "inference",
        "app.kubernetes.io/part-of": "llmservice",
        "app.kubernetes.io/managed-by": "llmservice-operator",
    }


def child(plan: ServicePlan, api_version: str, kind: str, spec: Manifest) -> Manifest:
    """A child with the name of the resource, owned by it. The resource's own labels are not copied."""
    metadata: Manifest = {"name": plan.owner.name, "namespace": plan.owner.namespace, "labels": labels(plan)}
    if plan.owner.uid:
        metadata["ownerReferences"] = [_owner_reference(plan)]
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def _owner_reference(plan: ServicePlan) -> Manifest:
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "name": plan.owner.name,
        "uid": plan.owner.uid,
        "controller": True,
        # True would require permission to update the resource's finalizers where that is enforced (OpenShift).
        "blockOwnerDeletion": False,
    }
