"""The operator as it is installed: image, manifests, service account, on a cluster that keeps an audit log."""

import functools
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox import Sandbox
from tests.cluster.conftest import RESTRICTED
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_image import IMAGE, ROOT, operator_archive
from tests.cluster.services import a_tiny_service, ask

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

SYSTEM = "llmservice-system"
USER = f"system:serviceaccount:{SYSTEM}:llmservice-operator"
MEGABYTE = 10**6
Right = tuple[str, str, str]
"""API group, resource with subresource, verb."""


@pytest.fixture(scope="module")
def image() -> Path:
    """The operator's image as an archive."""
    return operator_archive()


@pytest.fixture(scope="module", params=["cluster", "namespaced"])
def overlay(request: pytest.FixtureRequest) -> str:
    """Which rights the operator gets."""
    return str(request.param)


@pytest.fixture(scope="module")
def audit_log(tmp_path_factory: pytest.TempPathFactory, overlay: str) -> Path:
    """Every request to the API server, a JSON line each."""
    return tmp_path_factory.mktemp("audit") / f"{overlay}.log"


@pytest.fixture(scope="module")
def installed(image: Path, overlay: str, audit_log: Path) -> Iterator[Kube]:
    """A fresh cluster with the operator; a client in the namespace it serves. Taken down afterwards."""
    box = Sandbox.named("rights", audit_log=audit_log)
    box.down()
    box.up()
    try:
        assert box.load_image(image) == [IMAGE]
        kube = Kube.connect(box.kubeconfig, box.kubectl)
        serving = kube.within("models" if overlay == "cluster" else SYSTEM)
        metadata = {"name": serving.namespace, "labels": RESTRICTED}
        kube.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        kube.kubectl("apply", "--server-side", "-k", str(ROOT / "manifests/overlays" / overlay))
        serving.within(SYSTEM).kubectl("rollout", "status", "deployment/llmservice-operator", "--timeout=90s")
        box.model_volume(serving.namespace, "models")
        yield serving
    finally:
        box.down()


def test_the_image_is_small(image: Path) -> None:
    assert image.stat().st_size < 120 * MEGABYTE


def test_an_llmservice_is_served(installed: Kube) -> None:
    installed.create(a_tiny_service("served"))
    installed.wait_ready("served")
    assert ask(installed, "served")["usage"]["completion_tokens"] > 0


def test_one_replica_leads_and_both_are_ready(installed: Kube) -> None:
    pods = operator_pods(installed)
    figures = [metrics(pod) for pod in pods]
    assert sorted(leads(text) for text in figures) == [0.0, 1.0]
    assert all(pod["status"]["containerStatuses"][0]["restartCount"] == 0 for pod in pods)


def test_its_log_is_json_and_names_the_resource(installed: Kube) -> None:
    installed.create(a_tiny_service("logged", suspend=True))
    installed.wait_reason("logged", "Suspended")
    lines = [line for pod in operator_pods(installed) for line in log_lines(installed, pod)]
    about = next(line for line in lines if line.get("name") == "logged")
    assert about["namespace"] == installed.namespace
    assert about["generation"] == 1
    assert len(about["reconcileID"]) == 8


def test_when_the_leader_is_deleted_the_other_replica_takes_over(installed: Kube) -> None:
    system = installed.within(SYSTEM)
    leader = next(pod for pod in operator_pods(installed) if leads(metrics(pod)))
    system.delete("Pod", leader["metadata"]["name"])
    installed.create(a_tiny_service("successor", suspend=True))
    installed.wait_reason("successor", "Suspended")


def test_explain_asks_the_leader_through_the_api_server(installed: Kube) -> None:
    """As a person does, with nothing but a kubeconfig."""
    installed.create(a_tiny_service("scaled", autoscaling={"maxReplicas": 2}))
    installed.wait_reason("scaled", "MetricsRead", kind="MetricsAvailable")
    environment = {**os.environ, "KUBECONFIG": str(installed.kubeconfig), "PYTHONPATH": str(ROOT / "operator")}
    command = [sys.executable, "-m", "llmservice", "explain", "scaled", "-n", installed.namespace]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{installed.namespace}/scaled: llamacpp")


def test_rights_used_and_rights_granted_are_the_same(installed: Kube, audit_log: Path, overlay: str) -> None:
    """A life that needs every right: served, repaired, shrunk, opened, scaled, name taken, without files, crashed.

    Without cluster rights the nodes are asked for once, in vain, and nothing else is.
    """
    installed.create(a_tiny_service("whole", replicas=2, networkPolicy={"ingressFrom": []}))
    installed.wait_ready("whole")
    installed.delete("Service", "whole")
    installed.wait(lambda: installed.get("Service", "whole"), lambda: installed.list("Service"))
    installed.patch("LLMService", "whole", {"spec": {"replicas": 1, "networkPolicy": None}})
    for kind in ("PodDisruptionBudget", "NetworkPolicy"):
        installed.wait(functools.partial(is_gone, installed, kind, "whole"), lambda: None)
    installed.create(a_tiny_service("lively", autoscaling={"minReplicas": 2, "maxReplicas": 2}))
    installed.wait_ready("lively")
    installed.patch("LLMService", "lively", {"spec": {"autoscaling": {"minReplicas": 1, "maxReplicas": 1}}})
    installed.wait(lambda: len(pods_of(installed, "lively")) == 1 or None, lambda: installed.list("Pod"))
    foreign = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "taken"}, "spec": {"ports": [{"port": 1}]}}
    installed.create(foreign)
    installed.create(a_tiny_service("taken", replicas=2, networkPolicy={"ingressFrom": []}))
    installed.wait_reason("taken", "NameConflict", "Stalled")  # only then its names are asked for
    files = [{"path": "/templates/chat.jinja", "configMapKeyRef": {"name": "absent", "key": "chat"}}]
    installed.create(a_tiny_service("fileless", engineOptions={"files": files}))
    installed.wait_reason("fileless", "ConfigMapNotFound")
    long_enough = "/".join(["a-name-that-the-engine-repeats-in-each-line-of-its-complaint"] * 7)  # > 2 kB altogether
    installed.create(a_tiny_service("crashed", model={"uri": f"pvc://models/{long_enough}/absent.gguf"}))
    installed.wait_reason("crashed", "ModelNotFound", seconds=90)
    used, refused = asked_for(audit_log)
    assert set(refused) == (set() if overlay == "cluster" else {"list nodes"})
    assert used == granted(overlay)


def is_gone(kube: Kube, kind: str, name: str) -> bool:
    """Whether there is no such object."""
    return kube.get(kind, name) is None


def pods_of(kube: Kube, name: str) -> list[Body]:
    """The pods of a service."""
    return kube.list("Pod", f"llmservice.dev/name={name}")


def operator_pods(kube: Kube) -> list[Body]:
    """Its pods that are not being deleted."""
    pods = kube.within(SYSTEM).list("Pod", "app.kubernetes.io/component=operator")
    return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]


def metrics(pod: Body) -> str:
    """What Prometheus would read."""
    url = f"http://{pod['status']['podIP']}:8080/metrics"
    with urllib.request.urlopen(url, timeout=10) as response:
        text: str = response.read().decode()
        return text


def leads(text: str) -> float:
    """1 for the leader."""
    return next(float(row.split()[-1]) for row in text.splitlines() if row.startswith("leader_election_master_status{"))


def log_lines(kube: Kube, pod: Body) -> list[dict[str, Any]]:
    """Its log; fails on a line that is no JSON object."""
    text = kube.within(SYSTEM).kubectl("logs", pod["metadata"]["name"])
    return [json.loads(line) for line in text.splitlines()]


def granted(overlay: str) -> set[Right]:
    """The rights in the manifests, one by one."""
    names = ("rights", "pod-logs", "catalogue", "leader-election")
    files = [ROOT / "manifests/base" / f"{name}.yaml" for name in names]
    files += (ROOT / "manifests/overlays" / overlay).glob("*-insight.yaml")
    roles = [body for file in files for body in yaml.safe_load_all(file.read_text()) if "rules" in body]
    return {
        (group, resource, verb)
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def asked_for(audit_log: Path) -> tuple[set[Right], list[str]]:
    """The rights the operator used, and what was refused for want of a right."""
    time.sleep(1)  # the API server writes the log behind its answers
    used: set[Right] = set()
    refused = []
    for line in audit_log.read_text().splitlines():
        event = json.loads(line)
        if event["user"]["username"] != USER:
            continue
        code = event.get("responseStatus", {}).get("code")
        if reference := event.get("objectRef"):
            resource = "/".join(filter(None, (reference["resource"], reference.get("subresource"))))
            if code == 403:
                refused.append(f"{event['verb']} {resource}")
                continue
            verbs = {event["verb"], "create"} if (event["verb"], code) == ("patch", 201) else {event["verb"]}
            used |= {(reference.get("apiGroup", ""), resource, verb) for verb in verbs}
    return used, refused
