"""Flux and Argo CD beside the operator: they find nothing to correct, whatever the replicas do."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from llmservice.objects.names import AUTOSCALER
from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service
from tests.gitops.merging import argo_patch, flux_drift

pytestmark = pytest.mark.cluster

FLUX = "kustomize-controller"
"""The field manager of Flux; its labels are on everything it applies."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
TRACKED_BY_FLUX = {"kustomize.toolkit.fluxcd.io/name": "models", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
NOWHERE = {"nodeSelector": {"llmservice.dev/nowhere": "yes"}}
ROUNDS, ROUND_SECONDS = 8, 1.0


def in_git() -> Body:
    """A service as it stands in Git: replicas follow the load."""
    return a_tiny_service(autoscaling={"minReplicas": 1, "maxReplicas": 8}, pod=NOWHERE)


def by_flux(kube: Kube, *, dry_run: bool = False) -> Body:
    """Server-side apply with force, as Flux does; returns the object as it is, or would be."""
    body = in_git()
    body["metadata"]["labels"] = TRACKED_BY_FLUX
    path = f"{collection(kube)}/chat?fieldManager={FLUX}&force=true{'&dryRun=All' if dry_run else ''}"
    return kube.request("PATCH", path, body, content="application/apply-patch+yaml")


def by_argo(kube: Kube) -> Body:
    """Client-side apply, as Argo CD does by default; returns what Git says."""
    body = in_git()
    body["metadata"]["namespace"] = kube.namespace
    body["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "models:llmservice.dev/LLMService:ml/chat"}
    kube.kubectl("apply", "--field-manager=argocd-controller", "-f", "-", stdin=json.dumps(body))
    return body


def scale(kube: Kube, replicas: int) -> None:
    """What an autoscaler writes."""
    body = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "chat"},
        "spec": {"replicas": replicas},
    }
    kube.patch("Deployment", "chat", body, manager=AUTOSCALER, how="apply", sub="scale")


def while_scaling(kube: Kube, look: Callable[[Body], Any]) -> set[int]:
    """Change the replicas each round and look at the resource; returns the numbers that its status showed."""
    kube.wait(lambda: kube.get("Deployment", "chat"), lambda: kube.get("LLMService", "chat"))
    shown = set()
    for number in range(ROUNDS):
        scale(kube, 2 + number % 5)
        time.sleep(ROUND_SECONDS)
        live = kube.get("LLMService", "chat")
        assert live is not None
        assert not look(live)
        shown.add(int(live["status"].get("desiredReplicas", -1)))
    return shown


def test_flux_finds_nothing_to_correct_while_replicas_change(kube: Kube) -> None:
    by_flux(kube)
    shown = while_scaling(kube, lambda live: flux_drift(live, by_flux(kube, dry_run=True)))
    assert len(shown) >= 3
    before = kube.get("LLMService", "chat")
    assert before is not None
    assert by_flux(kube)["metadata"]["generation"] == before["metadata"]["generation"] == 1


def test_argo_cd_finds_nothing_to_correct_while_replicas_change(kube: Kube) -> None:
    git = by_argo(kube)

    def three_way(live: Body) -> dict[str, Any]:
        return argo_patch(json.loads(live["metadata"]["annotations"][LAST_APPLIED]), git, live)

    assert len(while_scaling(kube, three_way)) >= 3


def test_what_somebody_else_changed_is_found(kube: Kube) -> None:
    """The comparisons do see a difference where there is one."""
    git = by_argo(kube)
    kube.patch("LLMService", "chat", {"spec": {"maxNumSeqs": 7}})
    live = kube.get("LLMService", "chat")
    assert live is not None
    assert argo_patch({}, git, live) == {"spec": {"maxNumSeqs": 2}}
    assert "spec" in flux_drift(live, by_flux(kube, dry_run=True))


def test_children_carry_nothing_that_a_gitops_tool_would_prune(kube: Kube) -> None:
    by_flux(kube)
    child = kube.wait(lambda: kube.get("Deployment", "chat"), lambda: kube.list("LLMService"))
    marks = {**(child["metadata"]["labels"]), **child["metadata"]["annotations"]}
    assert [key for key in marks if "fluxcd" in key or "argoproj" in key or key == LAST_APPLIED] == []
    assert [owner["kind"] for owner in child["metadata"]["ownerReferences"]] == ["LLMService"]


def collection(kube: Kube) -> str:
    return f"/apis/llmservice.dev/v1alpha1/namespaces/{kube.namespace}/llmservices"
