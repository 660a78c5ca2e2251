"""Flux's real controllers and a team's LLMServices in Git: what is applied when, and when it counts as done."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from sandbox import Sandbox
from tests.cluster.conftest import install_crd
from tests.cluster.kstatus import KStatus, kstatus
from tests.cluster.kube import Body, Kube, condition_of
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service, ask
from tests.gitops.clients.flux import Flux
from tests.gitops.clients.git_server import Repository

pytestmark = [pytest.mark.cluster, pytest.mark.gitops, pytest.mark.sandbox]

REJECTED = {"args": ["--chat-template-file", "/absent.jinja"]}


def files(*services: Body, folder: str = "models") -> dict[str, str]:
    """Services as files of a folder."""
    return {f"{folder}/{each['metadata']['name']}.yaml": json.dumps(each) for each in services}


def live(kube: Kube, name: str = "chat") -> Body:
    body = kube.get("LLMService", name)
    assert body is not None
    return body


def moved_at(condition: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(condition["lastTransitionTime"])


def written_by_flux(body: Body) -> list[str]:
    """When Flux wrote the object: one entry, whose time moves with every write that changes something."""
    return [item["time"] for item in body["metadata"]["managedFields"] if item["manager"] == "kustomize-controller"]


def test_a_kustomization_is_ready_when_the_last_of_its_models_is(
    flux: Flux, git: Repository, kube: Kube, box: Sandbox
) -> None:
    waits = a_tiny_service("second", model={"uri": "pvc://later/tiny.gguf"})
    commit = git.commit(files(a_tiny_service(), waits))
    flux.kustomization()
    kube.wait_ready("chat")
    kube.wait_reason("second", "ClaimNotFound")
    assert flux.ready().get("status") != "True"
    box.model_volume(kube.namespace, "later")
    flux.wait_ready(commit)
    last = max(moved_at(condition_of(live(kube, name), "Ready")) for name in ("chat", "second"))
    assert moved_at(flux.ready()) >= last


def test_what_depends_on_models_is_applied_when_they_serve(flux: Flux, git: Repository, kube: Kube) -> None:
    commit = git.commit(files(a_tiny_service()) | files(a_tiny_service("after"), folder="apps"))
    flux.kustomization("apps", dependsOn=[{"name": "models"}])
    kube.wait(lambda: flux.ready(name="apps").get("reason") == "DependencyNotReady", lambda: flux.ready(name="apps"))
    assert kube.get("LLMService", "after") is None
    flux.kustomization()
    flux.wait_ready(commit, "apps")
    first, after = live(kube), live(kube, "after")
    served, made = (
        moved_at(condition_of(first, "Ready")),
        datetime.fromisoformat(after["metadata"]["creationTimestamp"]),
    )
    assert served <= made


def test_flux_corrects_nothing_while_replicas_change(flux: Flux, git: Repository, kube: Kube) -> None:
    service = a_tiny_service(autoscaling={"minReplicas": 1, "maxReplicas": 3})
    commit = git.commit(files(service))
    flux.kustomization(interval="1s", wait=False)
    flux.wait_ready(commit)
    kube.wait_ready("chat")
    written = written_by_flux(live(kube))
    shown = set()
    for replicas in (2, 3, 1):
        kube.kubectl("scale", "deployment/chat", f"--replicas={replicas}")
        shown.add(_shown_when(kube, replicas))
        _pass(flux, git)
    assert shown == {1, 2, 3}
    assert live(kube)["metadata"]["generation"] == 1
    assert written_by_flux(live(kube)) == written


def _shown_when(kube: Kube, replicas: int) -> int:
    """The number that the status shows once it is the one that was asked for."""
    kube.wait(lambda: live(kube)["status"]["desiredReplicas"] == replicas, lambda: live(kube))
    return int(live(kube)["status"]["desiredReplicas"])


def _pass(flux: Flux, git: Repository) -> None:
    """Two more commits without a change of the models: each is a pass of Flux."""
    for _ in range(2):
        commit = git.commit_folders(git.folder)
        flux.wait_ready(commit)


def test_edits_suspension_and_resumption_come_through_git(flux: Flux, git: Repository, kube: Kube) -> None:
    flux.kustomization()
    flux.wait_ready(git.commit(files(a_tiny_service())))
    flux.wait_ready(git.commit(files(a_tiny_service(replicas=2))))
    assert live(kube)["status"]["readyReplicas"] == 2
    flux.wait_ready(git.commit(files(a_tiny_service(suspend=True))))
    assert condition_of(live(kube), "Ready")["reason"] == "Suspended"
    assert kube.list("Pod") == []
    flux.wait_ready(git.commit(files(a_tiny_service())))
    assert ask(kube)["usage"]["completion_tokens"] > 0


def test_a_mistake_fails_within_a_few_crashes_and_the_fix_is_applied_at_once(
    flux: Flux, git: Repository, kube: Kube
) -> None:
    git.commit(files(a_tiny_service(engineOptions=REJECTED)))
    flux.kustomization(timeout="10m")
    told = flux.wait_failed()
    assert "LLMService" in told["message"]
    assert kstatus(live(kube)) is KStatus.FAILED
    took = flux.wait_ready(git.commit(files(a_tiny_service())))
    print(f"\nfrom the commit of the fix to Ready: {took:.0f} s")  # noqa: T201
    assert ask(kube)["usage"]["completion_tokens"] > 0


def test_what_the_operator_refuses_fails_at_once(flux: Flux, git: Repository, kube: Kube) -> None:
    git.commit(files(a_tiny_service(engineOptions={"version": "b1"})))
    flux.kustomization(timeout="10m")
    flux.wait_failed(seconds=60)
    assert condition_of(live(kube), "Stalled")["reason"] == "UnknownVersion"


def test_a_misspelled_field_is_named_and_nothing_is_applied(flux: Flux, git: Repository, kube: Kube) -> None:
    git.commit(files(a_tiny_service(maxModelLenght=512)))
    flux.kustomization()
    told = kube.wait(lambda: flux.ready() if flux.ready().get("reason") == "ReconciliationFailed" else None, flux.ready)
    assert ".spec.maxModelLenght" in told["message"]
    assert kube.list("LLMService") == []


def test_what_git_no_longer_has_is_pruned_also_without_an_operator(
    flux: Flux, git: Repository, kube: Kube, operator: Operator
) -> None:
    flux.kustomization()
    flux.wait_ready(git.commit(files(a_tiny_service(), a_tiny_service("second"))))
    flux.wait_ready(git.commit(files(a_tiny_service())))
    kube.wait(lambda: kube.get("Deployment", "second") is None, lambda: kube.list("Deployment"))
    operator.stop()
    try:
        flux.delete("Kustomization", "models")
        kube.wait(lambda: not kube.list("Deployment"), lambda: kube.list("Deployment"))
        assert kube.list("LLMService") == []
    finally:
        operator.start()


def test_an_edit_while_no_operator_runs_is_not_ready_until_one_does(
    flux: Flux, git: Repository, kube: Kube, operator: Operator
) -> None:
    flux.kustomization()
    flux.wait_ready(git.commit(files(a_tiny_service())))
    operator.stop()
    try:
        commit = git.commit(files(a_tiny_service(maxNumSeqs=4)))
        kube.wait(lambda: live(kube)["metadata"]["generation"] == 2, lambda: live(kube))
        assert kstatus(live(kube)) is KStatus.IN_PROGRESS
        assert flux.revision() != commit
        assert ask(kube)["usage"]["completion_tokens"] > 0
    finally:
        operator.start()
    flux.wait_ready(commit)


def test_models_come_back_after_the_crd_was_deleted(flux: Flux, git: Repository, kube: Kube, cluster: Kube) -> None:
    commit = git.commit(files(a_tiny_service()))
    flux.kustomization()
    flux.wait_ready(commit)
    before = live(kube)["metadata"]["uid"]
    kube.kubectl("delete", "crd", "llmservices.llmservice.dev", "--timeout=60s")
    install_crd(cluster)
    kube.wait(lambda: kube.get("LLMService", "chat"), flux.ready)
    kube.wait_ready("chat")
    assert live(kube)["metadata"]["uid"] != before
    flux.wait_ready(commit)
