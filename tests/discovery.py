"""What an API server says about itself: the API groups that kopf asks for before it watches LLMServices.

It waits until it knows namespaces and CRDs, although it watches neither here.
"""

from typing import Any

GROUP = "llmservice.dev"
_CRDS = "apiextensions.k8s.io"


def discovery_answer(path: str) -> dict[str, Any] | None:
    """The body for this path; None where it is no question of discovery."""
    bodies: dict[str, dict[str, Any]] = {
        "/api": {"versions": ["v1"]},
        "/api/v1": {"resources": [_resource("namespaces", "Namespace", namespaced=False)]},
        "/apis": {"groups": [_group(GROUP, "v1alpha1"), _group(_CRDS, "v1")]},
        f"/apis/{GROUP}/v1alpha1": {"resources": [_resource("llmservices", "LLMService")]},
        f"/apis/{_CRDS}/v1": {
            "resources": [_resource("customresourcedefinitions", "CustomResourceDefinition", namespaced=False)]
        },
    }
    return bodies.get(path)


def _group(name: str, version: str) -> dict[str, Any]:
    served = {"groupVersion": f"{name}/{version}", "version": version}
    return {"name": name, "versions": [served], "preferredVersion": served}


def _resource(plural: str, kind: str, *, namespaced: bool = True) -> dict[str, Any]:
    verbs = ["get", "list", "watch", "patch"]
    return {"name": plural, "singularName": kind.lower(), "namespaced": namespaced, "kind": kind, "verbs": verbs}
