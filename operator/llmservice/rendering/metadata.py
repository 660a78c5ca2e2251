"""Names, labels and owner of the children."""

from llmservice.api.v1alpha1.resource import GROUP, KIND, VERSION
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan


def selector(plan: ServicePlan) -> dict[str, str]:
    """The labels that select the pods; a Deployment's selector can never change."""
    return {NAME_LABEL: plan.owner.name}


def labels(plan: ServicePlan) -> dict[str, str]:
    """The labels of every child.

    `app.kubernetes.io/instance` is not among them: Argo CD takes it for its own tracking label.
    """
    return {
        NAME_LABEL: plan.owner.name,
        "app.kubernetes.io/name": plan.engine,
        "app.kubernetes.io/component": "inference",
        "app.kubernetes.io/part-of": "llmservice",
        "app.kubernetes.io/managed-by": "llmservice-operator",
    }


def child(plan: ServicePlan, api_version: str, kind: str, spec: Manifest) -> Manifest:
    """A child named like the resource, owned by it. Labels of the resource itself are not copied down."""
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
        # True would need a right on the resource's finalizers where admission enforces it (OpenShift does).
        "blockOwnerDeletion": False,
    }
