"""Attempts to get more than a namespace's own pods out of an LLMService: none succeeds. SECURITY.md lists them."""

import json
from typing import Any

import pytest

from tests.cluster.kube import Body, Kube, Rejected, condition_of
from tests.cluster.services import a_tiny_service

pytestmark = pytest.mark.cluster

NOWHERE = {"nodeSelector": {"llmservice.dev/nowhere": "yes"}}
"""The pods fit no node: what is asked for is enough to judge."""


def with_pod(**fields: Any) -> dict[str, Any]:
    return {"pod": {**NOWHERE, **fields}}


def with_options(**fields: Any) -> dict[str, Any]:
    return {"engineOptions": fields}


ROOT_VOLUME = [{"name": "root", "hostPath": {"path": "/"}}]
SECRET = {"name": "password", "key": "word", "namespace": "kube-system"}
SELECTOR = {"matchLabels": {"app": "bank"}}
FOREIGN_PODS = {"topologyKey": "zone", "labelSelector": SELECTOR, "namespaces": ["kube-system"]}
NOT_IN_THE_API: dict[str, tuple[dict[str, Any], str]] = {
    "host-path": (with_pod(volumes=ROOT_VOLUME), "volumes"),
    "host-network": (with_pod(hostNetwork=True), "hostNetwork"),
    "host-processes": (with_pod(hostPID=True), "hostPID"),
    "host-ipc": (with_pod(hostIPC=True), "hostIPC"),
    "host-port": (with_pod(ports=[{"containerPort": 8000, "hostPort": 22}]), "ports"),
    "privileged": (with_pod(securityContext={"privileged": True}), "privileged"),
    "capabilities": (with_pod(securityContext={"capabilities": {"add": ["SYS_ADMIN"]}}), "capabilities"),
    "seccomp": (with_pod(securityContext={"seccompProfile": {"type": "Unconfined"}}), "seccompProfile"),
    "sidecar": (with_pod(containers=[{"name": "x", "image": "x"}]), "containers"),
    "init-container": (with_pod(initContainers=[{"name": "x", "image": "x"}]), "initContainers"),
    "own-node": (with_pod(nodeName="control-plane"), "nodeName"),
    "token": (with_pod(automountServiceAccountToken=True), "automountServiceAccountToken"),
    "command": (with_options(command=["/bin/sh"]), "command"),
    "all-of-a-secret": (with_options(envFrom=[{"secretRef": {"name": "x"}}]), "envFrom"),
    "foreign-secret-in-env": (
        with_options(env=[{"name": "X", "valueFrom": {"secretKeyRef": SECRET}}]),
        "secretKeyRef.namespace",
    ),
    "foreign-secret-in-a-file": (
        with_options(files=[{"path": "/x", "secretKeyRef": SECRET}]),
        "secretKeyRef.namespace",
    ),
    "foreign-secret-as-token": (
        {"model": {"uri": "hf://acme/chat", "tokenSecretRef": SECRET}},
        "tokenSecretRef.namespace",
    ),
    "foreign-pods": (
        with_pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [FOREIGN_PODS]}}),
        "namespaces",
    ),
    "metrics-address": ({"autoscaling": {"maxReplicas": 2, "metricsURL": "http://169.254.169.254/"}}, "metricsURL"),
}


@pytest.mark.parametrize("attempt", NOT_IN_THE_API)
def test_what_the_api_has_no_word_for_is_refused(quiet: Kube, attempt: str) -> None:
    spec, field = NOT_IN_THE_API[attempt]
    with pytest.raises(Rejected, match="unknown field") as refused:
        quiet.create(a_tiny_service(**spec))
    assert field in str(refused.value)


def test_what_the_api_has_no_word_for_is_dropped_where_nobody_validates(kube: Kube) -> None:
    """A client may ask for no validation: then the API server keeps only what the schema has."""
    words = ("hostPath", "hostNetwork", "hostPID", "hostPort", "privileged", "SYS_ADMIN", "Unconfined", "kube-system")
    for number, (spec, _) in enumerate(NOT_IN_THE_API.values()):
        body = a_tiny_service(f"chat-{number}", **spec)
        kube.request("POST", collection(kube) + "?fieldValidation=Ignore", body)
    for number in range(len(NOT_IN_THE_API)):
        template = deployment(kube, f"chat-{number}")["spec"]["template"]
        assert [word for word in words if word in json.dumps(template["spec"])] == []
        assert len(template["spec"]["containers"]) == 1
        assert template["spec"]["automountServiceAccountToken"] is False
        assert "command" not in template["spec"]["containers"][0]


OURS = {"llmservice.dev/name": "other"}
REFUSED_VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "root": (with_pod(securityContext={"runAsUser": 0}), "spec.pod.securityContext.runAsUser"),
    "another-services-pods": (with_pod(labels=OURS), "spec.pod.labels"),
    "the-operators-own-pods": (with_pod(labels={"app.kubernetes.io/component": "operator"}), "spec.pod.labels"),
    "our-annotations": (with_pod(annotations={"llmservice.dev/intent": "x"}), "spec.pod.annotations"),
    "app-armor-by-annotation": (
        with_pod(annotations={"container.apparmor.security.beta.kubernetes.io/engine": "unconfined"}),
        "spec.pod.annotations",
    ),
    "devices-by-annotation": (
        with_pod(annotations={"io.kubernetes.cri-o.Devices": "/dev/kvm"}),
        "spec.pod.annotations",
    ),
    "image-with-options": (with_options(image="--privileged", version="b11312"), "spec.engineOptions.image"),
    "image-with-a-volume": (with_options(image="engine:1 -v /:/host", version="b11312"), "spec.engineOptions.image"),
    "image-with-a-command": (with_options(image="engine:1;reboot", version="b11312"), "spec.engineOptions.image"),
    "file-outside": (
        with_options(files=[{"path": "/etc/../../x", "secretKeyRef": {"name": "a", "key": "b"}}]),
        "spec.engineOptions.files[0].path",
    ),
    "file-beside": (
        with_options(files=[{"path": "x", "secretKeyRef": {"name": "a", "key": "b"}}]),
        "spec.engineOptions.files[0].path",
    ),
    "secret-key-as-a-path": (
        with_options(files=[{"path": "/x", "secretKeyRef": {"name": "a", "key": "../b"}}]),
        "spec.engineOptions.files[0].secretKeyRef.key",
    ),
    "secret-name-as-a-path": (
        with_options(files=[{"path": "/x", "secretKeyRef": {"name": "../a", "key": "b"}}]),
        "spec.engineOptions.files[0].secretKeyRef.name",
    ),
    "model-outside": ({"model": {"uri": "pvc://models/../../etc/passwd"}}, "spec.model.uri"),
    "model-file-outside": ({"model": {"uri": "hf://acme/chat", "file": "../../etc/passwd"}}, "spec.model.file"),
    "model-by-way-of-a-variable": ({"model": {"uri": "pvc://models/$(HOME)"}}, "spec.model.uri"),
    "file-by-way-of-a-variable": ({"model": {"uri": "hf://acme/chat", "file": "$(HOME)"}}, "spec.model.file"),
    "model-from-the-node": ({"model": {"uri": "file:///etc/passwd"}}, "spec.model.uri"),
    "oversized-argument": (with_options(args=["x" * 8193]), "args"),
    "too-many-arguments": (with_options(args=["x"] * 129), "args"),
    "oversized-value": (with_options(env=[{"name": "X", "value": "x" * 32769}]), "env"),
    "oversized-altogether": (with_options(args=["x" * 8192] * 128), "96 kB"),
}


@pytest.mark.parametrize("attempt", REFUSED_VALUES)
def test_a_value_that_reaches_too_far_is_refused(quiet: Kube, attempt: str) -> None:
    spec, field = REFUSED_VALUES[attempt]
    with pytest.raises(Rejected) as refused:
        quiet.create(a_tiny_service(**spec))
    assert refused.value.status in {400, 422}
    assert field in str(refused.value)


def test_a_status_brought_along_is_dropped(kube: Kube) -> None:
    """The plan in a status is trusted: who may write a resource must not be able to write it."""
    forged = {"observedGeneration": 1, "plan": {"facts": "{}"}, "conditions": []}
    body = {**a_tiny_service(suspend=True), "status": forged}
    created = kube.request("POST", collection(kube), body)
    assert created["status"] == {"observedGeneration": -1}
    kube.wait_ready("chat", reason="Suspended")
    before = kube.get("LLMService", "chat")
    assert before is not None
    kube.patch("LLMService", "chat", {"status": forged})
    after = kube.get("LLMService", "chat")
    assert after is not None
    assert after["status"] == before["status"]


def test_the_token_of_a_service_account_is_not_mounted(kube: Kube) -> None:
    account: Body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "powerful"}}
    kube.request("POST", f"/api/v1/namespaces/{kube.namespace}/serviceaccounts", account)
    kube.create(a_tiny_service(**with_pod(serviceAccountName="powerful")))
    pod = kube.wait(lambda: next(iter(kube.list("Pod")), None), lambda: kube.get("LLMService", "chat"))
    assert pod["spec"]["serviceAccountName"] == "powerful"
    assert [volume for volume in pod["spec"]["volumes"] if "projected" in volume] == []


def test_a_label_of_the_deployments_controller_does_not_confuse_it(kube: Kube) -> None:
    kube.create(a_tiny_service(**with_pod(labels={"pod-template-hash": "mine"})))
    pod = kube.wait(lambda: next(iter(kube.list("Pod")), None), lambda: kube.get("LLMService", "chat"))
    assert pod["metadata"]["labels"]["pod-template-hash"] != "mine"
    assert len(kube.list("ReplicaSet")) == 1


def test_labels_and_annotations_of_the_resource_steer_nothing_below_it(kube: Kube) -> None:
    marks = {
        "argocd.argoproj.io/instance": "other",
        "kustomize.toolkit.fluxcd.io/prune": "enabled",
        "pod-security.kubernetes.io/enforce": "privileged",
    }
    body = a_tiny_service(suspend=True)
    body["metadata"] |= {"labels": marks, "annotations": {**marks, "argocd.argoproj.io/tracking-id": "other:x"}}
    kube.create(body)
    kube.wait_ready("chat", reason="Suspended")
    for child in (deployment(kube), kube.get("Service", "chat")):
        assert child is not None
        text = json.dumps([child["metadata"].get("labels"), child["metadata"].get("annotations"), child["spec"]])
        assert [mark for mark in (*marks, "tracking-id") if mark in text] == []


@pytest.mark.parametrize("owners", ["nobody", "a bystander", "another controller"])
def test_an_object_that_only_looks_like_ours_is_never_written(kube: Kube, owners: str) -> None:
    """Labels do not make it ours, nor does an owner that is not its controller, or is another LLMService."""
    owner = kube.create(a_tiny_service("owner", suspend=True))
    reference = {key: owner[key] for key in ("apiVersion", "kind")} | {"name": "owner", "uid": owner["metadata"]["uid"]}
    labels = {"llmservice.dev/name": "chat", "app.kubernetes.io/managed-by": "llmservice-operator"}
    metadata: Body = {"name": "chat", "labels": labels}
    if owners != "nobody":
        metadata["ownerReferences"] = [{**reference, "controller": owners == "another controller"}]
    spec = {"ports": [{"port": 1234}], "selector": {"app": "bank"}}
    foreign = kube.create({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
    kube.create(a_tiny_service())
    kube.wait_reason("chat", "NameConflict", "Stalled")
    now = kube.get("Service", "chat")
    assert now is not None
    assert now["metadata"]["resourceVersion"] == foreign["metadata"]["resourceVersion"]


def test_a_foreign_budget_of_the_same_name_is_not_deleted(kube: Kube) -> None:
    """The operator deletes a budget that a single replica no longer needs: its own only."""
    metadata = {"name": "chat", "labels": {"llmservice.dev/name": "chat"}}
    spec = {"maxUnavailable": 0, "selector": SELECTOR}
    kube.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec})
    kube.create(a_tiny_service(suspend=True, replicas=1))
    kube.wait_ready("chat", reason="Suspended")
    assert kube.get("PodDisruptionBudget", "chat") is not None


def test_a_flag_by_way_of_a_variable_reaches_no_pod(kube: Kube) -> None:
    """The kubelet would expand it after every check."""
    variables = [{"name": "FLAG", "value": "--api-key=x"}]
    kube.create(a_tiny_service(**with_options(args=["$(FLAG)"], env=variables)))
    assert "$(NAME)" in kube.wait_reason("chat", "EngineArgumentRejected", "Stalled")["message"]
    assert kube.get("Deployment", "chat") is None


@pytest.mark.parametrize("made_by", ["nobody", "a ReplicaSet of its name"])
def test_a_strangers_pod_with_our_label_is_no_replica(kube: Kube, made_by: str) -> None:
    """The ReplicaSet is named as a Deployment names its own; the LLMService controls it, and not its Deployment."""
    service = kube.create(a_tiny_service(**with_pod()))
    template = deployment(kube)["spec"]["template"]["spec"]
    container = {key: template["containers"][0][key] for key in ("image", "securityContext")}
    spec = {
        "securityContext": template["securityContext"],
        "containers": [{**container, "name": "x", "command": ["sleep", "600"]}],
        "terminationGracePeriodSeconds": 0,
    }
    labels = {"llmservice.dev/name": "chat", "stranger": "yes"}
    if made_by == "nobody":
        kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": labels}, "spec": spec})
    else:
        owner = {key: service[key] for key in ("apiVersion", "kind")} | {"name": "chat", "controller": True}
        owners = [{**owner, "uid": service["metadata"]["uid"]}]
        metadata = {"name": "chat-5d9", "labels": labels, "ownerReferences": owners}
        replicas = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}
        kube.create({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": replicas})

    def is_ready() -> bool:
        pods = kube.list("Pod", "stranger=yes")
        return any(condition_of(pod, "Ready").get("status") == "True" for pod in pods)

    kube.wait(is_ready, lambda: kube.list("Pod"), seconds=60)
    kube.patch("LLMService", "chat", {"spec": {"drain": {"timeoutSeconds": 7}}})

    def looked_again() -> Body | None:
        body = kube.get("LLMService", "chat")
        return body if body and body["status"]["observedGeneration"] == body["metadata"]["generation"] else None

    body = kube.wait(looked_again, lambda: kube.get("LLMService", "chat"))
    assert (body["status"]["readyReplicas"], condition_of(body, "Available")["status"]) == (0, "False")


@pytest.mark.parametrize("field", ["env", "args"])
def test_the_largest_resource_ends_with_a_reason_and_the_next_one_is_served(kube: Kube, field: str) -> None:
    """As much as the CRD admits, with annotations as large as the API server takes."""
    text = "x" * 6912
    env = [{"name": f"X{number}", "value": text} for number in range(3)]
    items = {"env": env, "args": ["--grammar", text] * 3}[field]
    body = a_tiny_service("huge", suspend=True, engineOptions={field: items})
    body["metadata"]["annotations"] = {"example.com/notes": "x" * 250_000}
    kube.create(body)
    kube.create(a_tiny_service("small", suspend=True))
    kube.wait_ready("small", reason="Suspended")

    def settled() -> str | None:
        reason = str(kube.condition("huge", "Ready").get("reason"))
        return reason if reason in {"Suspended", "RefusedByCluster"} else None

    assert kube.wait(settled, lambda: kube.condition("huge", "Ready"))


def collection(kube: Kube) -> str:
    return f"/apis/llmservice.dev/v1alpha1/namespaces/{kube.namespace}/llmservices"


def deployment(kube: Kube, name: str = "chat") -> Body:
    """The Deployment, once it is there."""
    return kube.wait(lambda: kube.get("Deployment", name), lambda: kube.get("LLMService", name))
