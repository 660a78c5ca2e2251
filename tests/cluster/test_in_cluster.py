"""The operator as it is installed: image, manifests, service account, on a cluster that keeps an audit log."""

import asyncio
import functools
import json
import os
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.transport.connection import connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.controllers.activation import SLICES
from llmservice.controllers.resync import WATCHED, ApiLister, Resync
from llmservice.rendering.http_route import ROUTE_KINDS
from sandbox import Sandbox
from tests.cluster.conftest import RESTRICTED
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_image import IMAGE, ROOT, operator_archive
from tests.cluster.service_account import kubeconfig_of
from tests.cluster.services import a_tiny_service, ask
from tests.routes.crds import install_gateway_api, install_inference_extension

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

SYSTEM, ACCOUNT, ACTIVATOR = "llmservice-system", "llmservice-operator", "llmservice-activator"
MEGABYTE = 10**6
PROMETHEUS, VIEWER, STRANGER = "prometheus", "viewer", "stranger"
"""Accounts: one that may get /metrics, one that may see what is in its namespace, one that may nothing."""
Right = tuple[str, str, str]
"""API group, resource with subresource, verb."""


@pytest.fixture(scope="module")
def image() -> Path:
    """The operator's image as an archive."""
    return operator_archive()


@pytest.fixture(scope="module", params=["cluster", pytest.param("namespaced", marks=pytest.mark.install)])
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
        for name in (ACCOUNT, ACTIVATOR):
            serving.within(SYSTEM).kubectl("rollout", "status", f"deployment/{name}", "--timeout=90s")
        box.model_volume(serving.namespace, "models")
        for account in (PROMETHEUS, VIEWER, STRANGER):
            serving.kubectl("create", "serviceaccount", account)
        of = f"--serviceaccount={serving.namespace}:"
        serving.kubectl(
            "create", "clusterrolebinding", PROMETHEUS, "--clusterrole=llmservice-metrics-reader", of + PROMETHEUS
        )
        serving.kubectl("create", "rolebinding", VIEWER, "--clusterrole=view", of + VIEWER)
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
    figures = [metrics(installed, pod) for pod in pods]
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
    leader = next(pod for pod in operator_pods(installed) if leads(metrics(installed, pod)))
    system.delete("Pod", leader["metadata"]["name"])
    installed.create(a_tiny_service("successor", suspend=True))
    installed.wait_reason("successor", "Suspended")


def test_metrics_are_for_those_who_may_get_them(installed: Kube) -> None:
    pod = operator_pods(installed)[0]
    assert asked(pod, "metrics", token(installed, PROMETHEUS))[0] == 200
    status, words = asked(pod, "metrics", token(installed, STRANGER))
    assert (status, f"{STRANGER} may not get" in words or "this token may not get" in words) == (403, True)
    for nobody in ("", "eyJhbGciOiJub25lIn0.e30.e30"):
        status, words = asked(pod, "metrics", nobody)
        assert (status, "Authorization: Bearer TOKEN" in words) == (401, True)


def test_an_explanation_is_for_those_who_may_get_the_service(installed: Kube, overlay: str) -> None:
    """Of a service that one may not get nothing is told, not even whether there is one."""
    installed.create(a_tiny_service("looked-at", autoscaling={"maxReplicas": 2}))
    installed.wait_reason("looked-at", "MetricsRead", kind="MetricsAvailable")
    leader = next(pod for pod in operator_pods(installed) if leads(metrics(installed, pod)))
    here, viewer, stranger = f"explain/{installed.namespace}", token(installed, VIEWER), token(installed, STRANGER)
    assert asked(leader, f"{here}/looked-at", viewer)[0] == 200
    assert asked(leader, f"{here}/absent", viewer)[0] == 404
    assert asked(leader, "explain/default/looked-at", viewer)[0] == 403
    there, nowhere = (asked(leader, f"{here}/{name}", stranger) for name in ("looked-at", "absent"))
    assert (there[0], there[1].replace("looked-at", "absent")) == nowhere
    assert nowhere[0] == 403
    made_for_it = installed.kubectl("create", "token", VIEWER, "--audience=llmservice-operator").strip()
    assert asked(leader, f"{here}/looked-at", made_for_it)[0] == (200 if overlay == "cluster" else 401)


def test_explain_asks_the_leader_through_the_api_server(installed: Kube, overlay: str, tmp_path: Path) -> None:
    """As a person does, with a kubeconfig that has a client certificate, and so no token to show."""
    installed.create(a_tiny_service("scaled", autoscaling={"maxReplicas": 2}))
    installed.wait_reason("scaled", "MetricsRead", kind="MetricsAvailable")
    (tmp_path / "token").write_text(token(installed, VIEWER))
    shown = ("--as-service-account", f"{installed.namespace}/{VIEWER}")
    for option in [shown] * (overlay == "cluster") + [("--token-file", str(tmp_path / "token"))]:
        done = explain(installed, *option)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"{installed.namespace}/scaled: llamacpp")
    assert "--as-service-account NAMESPACE/NAME" in explain(installed).stderr


def test_rights_used_and_rights_granted_are_the_same(
    installed: Kube, audit_log: Path, overlay: str, tmp_path: Path
) -> None:
    """A life that needs every right: served, repaired, shrunk, opened, scaled, name taken, crashed, inspected, swept,
    a model to be downloaded to a claim of its own, which waits for a volume, and a service that may sleep, until it may
    not any more.

    Without cluster rights the nodes are asked for once, in vain, tokens are reviewed in vain, and nothing else is: nor
    does the admission policy of the operator refuse any of it.
    """
    assert metrics(installed, operator_pods(installed)[0])
    install_gateway_api(installed)
    install_inference_extension(installed)
    pool = {"endpointPickerRef": {"name": "picker"}}
    route = {"parentRefs": [{"name": "shared"}], "inferencePool": pool}
    whole = installed.create(a_tiny_service("whole", replicas=2, networkPolicy={"ingressFrom": []}, route=route))
    installed.wait_ready("whole")
    for kind in ROUTE_KINDS:
        installed.wait(functools.partial(installed.get, kind, "whole"), lambda: installed.get("LLMService", "whole"))
    for kind in ("Deployment", "Service", "NetworkPolicy"):
        installed.create(misnamed(installed, kind, whole))
    installed.delete("Service", "whole")
    installed.wait(lambda: installed.get("Service", "whole"), lambda: installed.list("Service"))
    installed.patch("LLMService", "whole", {"spec": {"replicas": 1, "networkPolicy": None, "route": None}})
    gone = (("PodDisruptionBudget", "whole"), ("NetworkPolicy", "whole"), ("NetworkPolicy", "misnamed"))
    for kind, name in (*gone, *((kind, "whole") for kind in ROUTE_KINDS)):
        installed.wait(functools.partial(is_gone, installed, kind, name), lambda: None)
    installed.create(a_tiny_service("lively", autoscaling={"minReplicas": 2, "maxReplicas": 2}, route=route))
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
    unseen = {"uri": f"pvc://models/{long_enough}/absent.gguf", "inspect": "Never"}
    installed.create(a_tiny_service("crashed", model=unseen))
    installed.wait_reason("crashed", "ModelNotFound", seconds=90)
    installed.create(a_tiny_service("refused", model={"uri": "pvc://models/absent.gguf"}))
    installed.wait_reason("refused", "ModelNotFound", seconds=90)  # by an inspection, whose Job is gone then
    cache, absent = {"claim": {"size": "1Gi"}}, {"uri": "hf://owner/name", "file": "a.gguf", "inspect": "Never"}
    installed.create(a_tiny_service("cached", model={**absent, "cache": cache}))
    installed.wait_reason("cached", "Downloading")
    installed.create(a_tiny_service("sleeper", autoscaling={"minReplicas": 0, "maxReplicas": 1}))
    installed.wait_ready("sleeper")
    installed.wait(lambda: installed.get("EndpointSlice", "sleeper-activator"), lambda: installed.list("EndpointSlice"))
    kubeconfig, _ = kubeconfig_of(installed.within(SYSTEM), ACCOUNT, tmp_path)
    asyncio.run(swept_from_nothing(kubeconfig, "" if overlay == "cluster" else installed.namespace))
    installed.patch("LLMService", "sleeper", {"spec": {"autoscaling": {"minReplicas": 1}}})
    slice_gone = functools.partial(is_gone, installed, "EndpointSlice", "sleeper-activator")
    installed.wait(slice_gone, lambda: installed.get("LLMService", "sleeper"))
    used, refused = asked_for(audit_log, ACCOUNT)
    assert set(refused) == (set() if overlay == "cluster" else {"list nodes", "create tokenreviews"})
    rights = granted(installed, overlay, ACCOUNT)
    assert {"used, not granted": used - rights, "granted, not used": rights - used} == {
        "used, not granted": set(),
        "granted, not used": {
            ("", "pods/eviction", "create"),  # used when an engine hangs: test_stalls.py
            # Used where the cluster has the kind: tests/nodes, by an operator with these rights.
            *(("leaderworkerset.x-k8s.io", "leaderworkersets", verb) for verb in ("get", "watch", "create", "patch")),
            *([("", "pods", "delete")] if overlay == "cluster" else []),  # when a node is shut down: tests/streams
        },
    }
    assert all(installed.get(kind, "misnamed") for kind in ("Deployment", "Service"))
    assert asked_for(audit_log, ACTIVATOR) == (granted(installed, overlay, ACTIVATOR), [])


def misnamed(kube: Kube, kind: str, owner: Body) -> Body:
    """What somebody makes with our labels and our owner, by a name that no resource asks for; it runs nothing."""
    live = kube.get(kind, owner["metadata"]["name"])
    assert live is not None
    kept = {key: live["metadata"][key] for key in ("labels", "ownerReferences")}
    spec = {key: value for key, value in live["spec"].items() if key not in {"clusterIP", "clusterIPs"}}
    if kind == "Deployment":
        spec["replicas"] = 0
    return {"apiVersion": live["apiVersion"], "kind": kind, "metadata": {"name": "misnamed", **kept}, "spec": spec}


async def swept_from_nothing(kubeconfig: Path, namespace: str) -> None:
    """The operator's resync with its own token, as if no watch had told anything: it gets all that a list knows."""
    cache = ObjectCache()
    async with connect(await load_credentials(kubeconfig=str(kubeconfig))) as connection:
        resync = Resync(
            api=ApiLister(connection), cache=cache, kinds=(*WATCHED, SLICES), absent=lambda _: ("LeaderWorkerSet",)
        )
        await resync.resync(namespace, functools.partial(asyncio.sleep, 0))
    assert cache.of_kind("Pod", namespace)


def is_gone(kube: Kube, kind: str, name: str) -> bool:
    """Whether there is no such object."""
    return kube.get(kind, name) is None


def pods_of(kube: Kube, name: str) -> list[Body]:
    """The pods of a service."""
    return kube.list("Pod", f"llmservice.dev/name={name}")


def operator_pods(kube: Kube) -> list[Body]:
    """Its pods that are ready and not being deleted."""
    pods = kube.within(SYSTEM).list("Pod", "app.kubernetes.io/component=operator")
    return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"] and is_ready(pod)]


def is_ready(pod: Body) -> bool:
    """Whether its container is; one that is being made has no status yet."""
    return any(status["ready"] for status in pod["status"].get("containerStatuses") or ())


def explain(kube: Kube, *options: str) -> subprocess.CompletedProcess[str]:
    """The command, as a person types it."""
    environment = {**os.environ, "KUBECONFIG": str(kube.kubeconfig), "PYTHONPATH": str(ROOT / "operator")}
    command = [sys.executable, "-m", "llmservice", "explain", "scaled", "-n", kube.namespace, *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603


def token(kube: Kube, account: str) -> str:
    """A token of an account in the namespace."""
    return kube.kubectl("create", "token", account).strip()


def asked(pod: Body, path: str, shown: str) -> tuple[int, str]:
    """Status and answer, with a token or none. The certificate is one that the replica has signed itself."""
    headers = {"Authorization": f"Bearer {shown}"} if shown else {}
    request = urllib.request.Request(f"https://{pod['status']['podIP']}:8443/{path}", headers=headers)
    unchecked = ssl.create_default_context()
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(request, timeout=10, context=unchecked) as response:  # noqa: S310
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def metrics(kube: Kube, pod: Body) -> str:
    """What Prometheus would read."""
    status, text = asked(pod, "metrics", token(kube, PROMETHEUS))
    assert status == 200, text
    return text


def leads(text: str) -> float:
    """1 for the leader."""
    return next(float(row.split()[-1]) for row in text.splitlines() if row.startswith("leader_election_master_status{"))


def log_lines(kube: Kube, pod: Body) -> list[dict[str, Any]]:
    """Its log; fails on a line that is no JSON object."""
    text = kube.within(SYSTEM).kubectl("logs", pod["metadata"]["name"])
    return [json.loads(line) for line in text.splitlines()]


def granted(kube: Kube, overlay: str, account: str) -> set[Right]:
    """The rights that the overlay gives to an account, one by one."""
    rendered = kube.kubectl("kustomize", str(ROOT / "manifests/overlays" / overlay))
    bodies = list(yaml.safe_load_all(rendered))
    bound = {
        (body["roleRef"]["kind"], body["roleRef"]["name"])
        for body in bodies
        for subject in body.get("subjects", ())
        if (subject["kind"], subject["name"]) == ("ServiceAccount", account)
    }
    return {
        (group, resource, verb)
        for role in bodies
        if (role["kind"], role["metadata"]["name"]) in bound
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def asked_for(audit_log: Path, account: str) -> tuple[set[Right], list[str]]:
    """The rights that an account used, and what was refused for want of a right."""
    time.sleep(1)  # the API server writes the log behind its answers
    used: set[Right] = set()
    refused = []
    user = f"system:serviceaccount:{SYSTEM}:{account}"
    for line in audit_log.read_text().splitlines():
        event = json.loads(line)
        if event["user"].get("username") != user:  # a token that nobody knows has none
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
