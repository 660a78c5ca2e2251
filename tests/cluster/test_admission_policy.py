"""What the operator's token is worth: its rights as they are shipped, and the admission policy beside them.

No operator uses the token here: each request is one that somebody could make who has stolen it. SECURITY.md lists them.
"""

import copy
import json
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.models.download_request import DownloadRequest
from llmservice.objects.names import NAME_LABEL
from llmservice.planning.cache_plan import CachePlan, OwnedClaim
from llmservice.planning.facts import RegistrySettings
from llmservice.rendering.claim import owned_claim
from llmservice.rendering.download_job import DownloadSettings, download_job
from llmservice.rendering.inspection_job import InspectionSettings, inspection_job
from tests.cluster.conftest import ROOT
from tests.cluster.kube import PATCHES, Body, Kube, Rejected, collection_of, item_of
from tests.cluster.service_account import kubeconfig_of
from tests.cluster.services import a_tiny_service
from tests.golden.cases import CASES
from tests.routes.crds import install_gateway_api, install_inference_extension

pytestmark = pytest.mark.cluster

SYSTEM, ACCOUNT = "llmservice-system", "llmservice-operator"
LEFT_OUT = {"Deployment", "PodDisruptionBudget", "CustomResourceDefinition"}
"""Of the overlay: the operator itself, and what the tests have installed."""
_ON_ONE_NODE = [case for case in CASES if not case.folder.name.endswith("-two-nodes")]
"""The others need LeaderWorkerSets, which tests/nodes has."""
OWNED = "chat"
DRY = "fieldManager=thief&dryRun=All"


@pytest.fixture(scope="module")
def admin(cluster: Kube) -> Iterator[Kube]:
    """An administrator where an LLMService is that no operator can serve; rights and policy are installed."""
    install_gateway_api(cluster)
    install_inference_extension(cluster)
    overlay = cluster.kubectl("kustomize", str(ROOT / "manifests/overlays/cluster"))
    bodies = [body for body in yaml.safe_load_all(overlay) if body["kind"] not in LEFT_OUT]
    installed = json.dumps({"apiVersion": "v1", "kind": "List", "items": bodies})
    cluster.await_end(SYSTEM)
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=installed)
    name = f"llmservice-test-{secrets.token_hex(4)}"
    cluster.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    kube = cluster.within(name)
    kube.create(a_tiny_service(OWNED, engineOptions={"version": "of-no-catalogue"}))
    yield kube
    cluster.request("DELETE", f"/api/v1/namespaces/{name}")
    cluster.kubectl("delete", "--ignore-not-found", "--wait=false", "-f", "-", stdin=installed)


@pytest.fixture(scope="module")
def thief(admin: Kube, tmp_path_factory: pytest.TempPathFactory) -> Kube:
    """Whoever has the operator's token, once the API server knows the policy."""
    kubeconfig, _ = kubeconfig_of(admin.within(SYSTEM), ACCOUNT, tmp_path_factory.mktemp("thief"))
    kube = Kube.connect(kubeconfig, admin.kubectl_path).within(admin.namespace)
    nobodys = {**child(admin, "Service"), "metadata": {"name": OWNED}}
    kube.wait(lambda: "rule owner" in answer(kube, "create", nobodys), lambda: answer(kube, "create", nobodys))
    return kube


@pytest.fixture(scope="module")
def children(admin: Kube, thief: Kube) -> Kube:
    """The thief, where children of the LLMService are, made with the same token; nothing runs."""
    for kind in ("Service", "Deployment", "NetworkPolicy"):
        thief.create(child(admin, kind))
    template = child(admin, "Deployment")["spec"]["template"]
    spec = {**template["spec"], "nodeSelector": {"llmservice.dev/nowhere": "yes"}}
    admin.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod", **template["metadata"]}, "spec": spec})
    return thief


def child(admin: Kube, kind: str) -> Body:
    """A child of the namespace's LLMService as the operator makes it."""
    case = next(case for case in CASES if case.folder.name == "vllm-network-policy")
    bodies = yaml.safe_load_all(case.manifests.read_text().replace("private", OWNED))
    body: Body = next(body for body in bodies if body["kind"] == kind)
    owner = admin.get("LLMService", OWNED)
    assert owner is not None
    return owned(body, admin.namespace, owner["metadata"]["uid"])


def owned(body: Body, namespace: str, uid: str) -> Body:
    """A rendered manifest with its owner, in a namespace, and nothing to run."""
    name = body["metadata"]["labels"][NAME_LABEL]  # a claim has a longer one
    reference = {"apiVersion": "llmservice.dev/v1alpha1", "kind": "LLMService", "name": name, "uid": uid}
    metadata = {**body["metadata"], "namespace": namespace, "ownerReferences": [{**reference, "controller": True}]}
    replicas = {"replicas": 0} if body["kind"] == "Deployment" else {}
    return {**body, "metadata": metadata, "spec": {**body["spec"], **replicas}}


def write(kube: Kube, how: str, body: Body) -> None:
    """Write as the operator does (create, apply, merge), without a trace; raises Rejected."""
    namespace = body["metadata"].get("namespace", kube.namespace)
    if how == "create":
        kube.request("POST", f"{collection_of(body['kind'], namespace)}?{DRY}", body)
        return
    item = item_of(body["kind"], namespace, body["metadata"]["name"])
    force = "&force=true" if how == "apply" else ""
    kube.request("PATCH", f"{item}?{DRY}{force}", body, content=PATCHES[how])


def answer(kube: Kube, how: str, body: Body) -> str:
    """What the API server says to a write; empty when it would be done."""
    try:
        write(kube, how, body)
    except Rejected as rejected:
        return str(rejected)
    return ""


def changed(body: Body, change: Callable[[Any], object], *path: str | int) -> Body:
    """A copy with a change to what lies at the path."""
    copied = copy.deepcopy(body)
    part: Any = copied
    for step in path:
        part = part[step]
    change(part)
    return copied


@pytest.mark.parametrize("case", _ON_ONE_NODE, ids=lambda case: case.folder.name)
def test_all_that_the_operator_renders_is_admitted(admin: Kube, thief: Kube, case: Any) -> None:
    for body in yaml.safe_load_all(case.manifests.read_text()):
        write(thief, "create", owned(body, admin.namespace, "11111111-1111-4111-8111-111111111111"))


def test_what_the_operator_changes_in_its_children_is_admitted(admin: Kube, children: Kube) -> None:
    for how in ("apply", "merge"):
        for kind in ("Service", "Deployment", "NetworkPolicy"):
            write(children, how, child(admin, kind))


def inspection(admin: Kube, **model: str) -> Body:
    """The Job that looks at the model of the namespace's LLMService, as the operator makes it."""
    owner = admin.get("LLMService", OWNED)
    assert owner is not None
    asked = {**owner, "spec": {**owner["spec"], "model": {"uri": "hf://owner/name", **model}}}
    return inspection_job(LLMService.parse(asked), AIR_GAP, InspectionSettings(image="registry.example/operator:1"))


@pytest.mark.parametrize("uri", ["hf://owner/name", "pvc://models/tiny.gguf"])
def test_the_job_that_looks_at_a_model_is_admitted_and_deleted(admin: Kube, thief: Kube, uri: str) -> None:
    job = inspection(admin, uri=uri)
    write(thief, "create", job)
    made = admin.create({**job, "spec": {**job["spec"], "suspend": True}})
    thief.request("DELETE", item_of("Job", admin.namespace, made["metadata"]["name"]) + "?dryRun=All")


def test_such_a_job_is_never_changed(admin: Kube, thief: Kube) -> None:
    job = inspection(admin, revision="never-changed")
    admin.create({**job, "spec": {**job["spec"], "suspend": True}})
    said = answer(thief, "merge", {**job, "spec": {"suspend": False}})
    assert "cannot patch" in said or "denied request: rule kinds" in said


def the_service(admin: Kube) -> LLMService:
    """The namespace's LLMService."""
    owner = admin.get("LLMService", OWNED)
    assert owner is not None
    return LLMService.parse(owner)


def download(admin: Kube, uri: str = "hf://owner/name") -> Body:
    """The Job that downloads a model for the namespace's LLMService, as the operator makes it."""
    service = the_service(admin)
    secret = {"name": "bucket", "key": "id"}
    env = [{"name": "AWS_ACCESS_KEY_ID", "valueFrom": {"secretKeyRef": secret}}]
    spec = {**service.spec.as_json(), "engineOptions": {"env": env}, "pod": {"serviceAccountName": "reader"}}
    asked = LLMService.parse({**(admin.get("LLMService", OWNED) or {}), "spec": spec})
    cache = CachePlan(claim="models", request=DownloadRequest(uri=uri), expected_bytes=10**12)
    return download_job(asked, cache, AIR_GAP, DownloadSettings(image="registry.example/operator:1", bandwidth=10**8))


@pytest.mark.parametrize("uri", ["hf://owner/name", "s3://bucket/model"])
def test_the_job_that_downloads_a_model_is_admitted_and_deleted(admin: Kube, thief: Kube, uri: str) -> None:
    job = download(admin, uri)
    write(thief, "create", job)
    made = admin.create({**job, "spec": {**job["spec"], "suspend": True}})
    thief.request("DELETE", item_of("Job", admin.namespace, made["metadata"]["name"]) + "?dryRun=All")


def a_claim(admin: Kube, *, retained: bool = False) -> Body:
    """The claim for the weights of the namespace's LLMService, as the operator makes it."""
    owned = OwnedClaim(storage_class="", size="10Gi", access_modes=("ReadWriteOnce",), retained=retained)
    return owned_claim(the_service(admin), "chat-weights", owned)


@pytest.mark.parametrize("retained", [False, True])
def test_a_claim_for_weights_is_made_and_never_changed_or_deleted(admin: Kube, thief: Kube, *, retained: bool) -> None:
    claim = a_claim(admin, retained=retained)
    write(thief, "create", claim)
    name = f"made-{retained}".lower()
    made = admin.create({**claim, "metadata": {**claim["metadata"], "name": name}})
    said = answer(thief, "merge", {**made, "spec": {"resources": {"requests": {"storage": "20Gi"}}}})
    assert "cannot patch" in said or "denied request: rule kinds" in said
    with pytest.raises(Rejected, match=r"cannot delete|rule kinds"):
        thief.request("DELETE", item_of("PersistentVolumeClaim", admin.namespace, name) + "?dryRun=All")


NO_CLAIM: dict[str, tuple[str, dict[str, Any]]] = {
    "a-volume-of-ones-choice": ("spec", {"volumeName": "of-the-bank"}),
    "a-copy": ("spec", {"dataSource": {"kind": "PersistentVolumeClaim", "name": "of-the-bank"}}),
    "of-another-kind": (
        "metadata",
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "x"}]},
    ),
    "of-no-service": ("metadata", {"labels": {}}),
}


@pytest.mark.parametrize("attempt", NO_CLAIM)
def test_a_stolen_token_makes_no_claim_but_one_for_weights(admin: Kube, thief: Kube, attempt: str) -> None:
    part, fields = NO_CLAIM[attempt]
    body = changed(a_claim(admin), lambda found: found.update(fields), part)
    assert "denied request: rule claims" in answer(thief, "create", body)


PROXY = {"HTTPS_PROXY": "http://proxy.example:3128"}
AIR_GAP = RegistrySettings(hf_endpoint="https://hub.example", proxies=PROXY, pull_secrets=("a",))
POD = ("spec", "template", "spec")
RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
SIDECAR = {"name": "proxy", "image": "x", "restartPolicy": "Always", "securityContext": RESTRICTED}
CONTAINER = (*POD, "containers", 0)
TOKEN = {"serviceAccountToken": {"path": "token"}}
BEYOND: dict[str, tuple[tuple[str | int, ...], dict[str, Any], str]] = {
    "host-path": (POD, {"volumes": [{"name": "root", "hostPath": {"path": "/"}}]}, "volumes"),
    "projected-token": (POD, {"volumes": [{"name": "t", "projected": {"sources": [TOKEN]}}]}, "volumes"),
    "csi": (POD, {"volumes": [{"name": "t", "csi": {"driver": "any"}}]}, "volumes"),
    "token": (POD, {"automountServiceAccountToken": True}, "token"),
    "host-network": (POD, {"hostNetwork": True}, "host"),
    "host-processes": (POD, {"hostPID": True, "shareProcessNamespace": False}, "host"),
    "host-ipc": (POD, {"hostIPC": True}, "host"),
    "host-port": (CONTAINER, {"ports": [{"containerPort": 8000, "hostPort": 8000}]}, "host"),
    "privileged": (
        CONTAINER,
        {"securityContext": {"privileged": True, "allowPrivilegeEscalation": True, "capabilities": {"drop": ["ALL"]}}},
        "privilege",
    ),
    "capability": (
        (*CONTAINER, "securityContext"),
        {"capabilities": {"drop": ["ALL"], "add": ["SYS_PTRACE"]}},
        "privilege",
    ),
    "escalation": (
        CONTAINER,
        {"securityContext": {"allowPrivilegeEscalation": True, "capabilities": {"drop": ["ALL"]}}},
        "privilege",
    ),
    "app-armor": (POD, {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}, "privilege"),
    "sysctl": (POD, {"securityContext": {"sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}]}}, "privilege"),
    "sidecar": (POD, {"containers": [{"name": "x", "image": "x"}]}, "containers"),
    "init-container": (POD, {"initContainers": [{"name": "x", "image": "x"}]}, "containers"),
    "proxy-that-ends": (POD, {"initContainers": [{"name": "proxy", "image": "x"}]}, "containers"),
    "two-proxies": (POD, {"initContainers": [SIDECAR, {**SIDECAR, "name": "other"}]}, "containers"),
    "privileged-proxy": (
        POD,
        {
            "initContainers": [
                {**SIDECAR, "securityContext": {**RESTRICTED, "privileged": True, "allowPrivilegeEscalation": True}}
            ]
        },
        "privilege",
    ),
    "proxy-on-the-node": (
        POD,
        {"initContainers": [{**SIDECAR, "ports": [{"containerPort": 8000, "hostPort": 22}]}]},
        "host",
    ),
    "node": (POD, {"nodeName": "control-plane"}, "containers"),
    "loosening-annotation": (
        ("spec", "template", "metadata"),
        {"annotations": {"container.apparmor.security.beta.kubernetes.io/engine": "unconfined"}},
        "annotations",
    ),
}


NO_INSPECTION: dict[str, tuple[tuple[str | int, ...], dict[str, Any], str]] = {
    "another-name": (("metadata",), {"name": "mine"}, "inspection"),
    "no-owner": (("metadata",), {"ownerReferences": []}, "owner"),
    "a-services-label": (("spec", "template", "metadata"), {"labels": {"llmservice.dev/name": OWNED}}, "inspection"),
    "for-ever": (("spec",), {"activeDeadlineSeconds": 86400}, "inspection"),
    "many": (("spec",), {"parallelism": 100, "completions": 100}, "inspection"),
    "again-and-again": (("spec",), {"backoffLimit": 6}, "inspection"),
    "kept": (("spec",), {"ttlSecondsAfterFinished": 10**6}, "inspection"),
    "account": (POD, {"serviceAccountName": "default"}, "inspection"),
    "token": (POD, {"automountServiceAccountToken": True}, "token"),
    "host-path": (POD, {"volumes": [{"name": "root", "hostPath": {"path": "/"}}]}, "volumes"),
    "host-network": (POD, {"hostNetwork": True}, "host"),
    "root": (POD, {"securityContext": {"runAsNonRoot": False}}, "inspection"),
    "command": (CONTAINER, {"command": ["sh"]}, "inspection"),
    "other-arguments": (CONTAINER, {"args": ["run"]}, "inspection"),
    "environment": (CONTAINER, {"env": [{"name": "KUBECONFIG", "value": "x"}]}, "inspection"),
    "all-of-a-secret": (CONTAINER, {"envFrom": [{"secretRef": {"name": "bank"}}]}, "inspection"),
    "no-limits": (CONTAINER, {"resources": {}}, "inspection"),
    "engine": (CONTAINER, {"name": "engine"}, "containers"),
    "privileged": (CONTAINER, BEYOND["privileged"][1], "privilege"),
    "writable-mount": (
        POD,
        {
            "volumes": [{"name": "m", "persistentVolumeClaim": {"claimName": "models"}}],
            "containers": [{"name": "inspect", "volumeMounts": [{"name": "m", "mountPath": "/m"}]}],
        },
        "inspection",
    ),
}


@pytest.mark.parametrize("attempt", NO_INSPECTION)
def test_a_stolen_token_makes_no_job_but_one_that_looks_at_a_model(admin: Kube, thief: Kube, attempt: str) -> None:
    path, fields, rule = NO_INSPECTION[attempt]
    job = inspection(admin)
    if attempt == "writable-mount":  # beside all that the container has
        own = job["spec"]["template"]["spec"]["containers"][0]
        fields = {**fields, "containers": [{**own, **fields["containers"][0]}]}
    said = answer(thief, "create", changed(job, lambda part: part.update(fields), *path))
    assert f"denied request: rule {rule}" in said


NO_DOWNLOAD: dict[str, tuple[tuple[str | int, ...], dict[str, Any], str]] = {
    "no-owner": (("metadata",), {"ownerReferences": []}, "owner"),
    "a-services-label": (("spec", "template", "metadata"), {"labels": {"llmservice.dev/name": OWNED}}, "download"),
    "for-ever": (("spec",), {"activeDeadlineSeconds": 10**7}, "download"),
    "many": (("spec",), {"parallelism": 100, "completions": 100}, "download"),
    "again-and-again": (("spec",), {"backoffLimit": 7}, "download"),
    "kept": (("spec",), {"ttlSecondsAfterFinished": 10**6}, "download"),
    "token": (POD, {"automountServiceAccountToken": True}, "token"),
    "host-path": (POD, {"volumes": [{"name": "root", "hostPath": {"path": "/"}}]}, "volumes"),
    "root": (POD, {"securityContext": {"runAsNonRoot": False}}, "download"),
    "command": (CONTAINER, {"command": ["sh"]}, "download"),
    "other-arguments": (CONTAINER, {"args": ["run"]}, "download"),
    "environment": (CONTAINER, {"env": [{"name": "KUBECONFIG", "value": "x"}]}, "download"),
    "no-limits": (CONTAINER, {"resources": {}}, "download"),
    "engine": (CONTAINER, {"name": "engine"}, "containers"),
    "privileged": (CONTAINER, BEYOND["privileged"][1], "privilege"),
    "writable-mount": (CONTAINER, {"volumeMounts": [{"name": "models", "mountPath": "/elsewhere"}]}, "download"),
}


@pytest.mark.parametrize("attempt", NO_DOWNLOAD)
def test_a_stolen_token_makes_no_job_but_one_that_downloads_a_model(admin: Kube, thief: Kube, attempt: str) -> None:
    path, fields, rule = NO_DOWNLOAD[attempt]
    said = answer(thief, "create", changed(mountless_job(admin), lambda part: part.update(fields), *path))
    assert f"denied request: rule {rule}" in said


def mountless_job(admin: Kube) -> Body:
    """The Job, open to any volumes: those that are replaced would be missed by their mounts."""
    return changed(download(admin), lambda container: container.pop("volumeMounts"), *CONTAINER)


def mountless(admin: Kube) -> Body:
    """The Deployment, open to any volumes: those that are replaced would be missed by their mounts."""
    return changed(child(admin, "Deployment"), lambda container: container.pop("volumeMounts"), *CONTAINER)


@pytest.mark.parametrize("how", ["create", "apply", "merge"])
@pytest.mark.parametrize("attempt", BEYOND)
def test_a_stolen_token_makes_no_pod_that_reaches_beyond_its_namespace(
    admin: Kube, children: Kube, attempt: str, how: str
) -> None:
    path, fields, rule = BEYOND[attempt]
    body = changed(mountless(admin), lambda part: part.update(fields), *path)
    said = answer(children, how, body)
    assert f"denied request: rule {rule}" in said


BYSTANDER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": OWNED, "uid": "any", "controller": True}
NOT_OURS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "without-owner": ("Deployment", "metadata", {"ownerReferences": []}, "owner"),
    "of-another-kind": ("Deployment", "metadata", {"ownerReferences": [BYSTANDER]}, "owner"),
    "of-another-name": ("Deployment", "metadata", {"name": "other"}, "owner"),
    "in-kube-system": ("Deployment", "metadata", {"namespace": "kube-system"}, "namespaces"),
    "node-port": ("Service", "spec", {"type": "NodePort"}, "service"),
    "load-balancer": ("Service", "spec", {"type": "LoadBalancer"}, "service"),
    "external-address": ("Service", "spec", {"externalIPs": ["203.0.113.1"]}, "service"),
    "others-pods-behind-a-service": ("Service", "spec", {"selector": {"app": "bank"}}, "selector"),
    "others-pods-cut-off": ("NetworkPolicy", "spec", {"podSelector": {}}, "selector"),
}


@pytest.mark.parametrize("attempt", NOT_OURS)
def test_a_stolen_token_makes_nothing_but_children(admin: Kube, thief: Kube, attempt: str) -> None:
    kind, part, fields, rule = NOT_OURS[attempt]
    body = changed(child(admin, kind), lambda found: found.update(fields), part)
    assert f"denied request: rule {rule}" in answer(thief, "create", body)


def test_the_deployment_of_the_review_is_refused_in_kube_system(admin: Kube, thief: Kube) -> None:
    """As it was written by dry run before there was a policy: a hostPath and another service account."""
    body = changed(mountless(admin), lambda metadata: metadata.update(namespace="kube-system"), "metadata")
    reach = {"volumes": [{"name": "root", "hostPath": {"path": "/"}}], "serviceAccountName": "node-controller"}
    said = answer(thief, "create", changed(body, lambda pod: pod.update(reach), *POD))
    assert "denied request: rule namespaces" in said


def test_a_stolen_token_takes_over_nothing_that_is_somebodys(admin: Kube, thief: Kube) -> None:
    """Not even with the owner that a child would have."""
    spec = {"ports": [{"name": "bank", "port": 1234}], "selector": {"app": "bank"}}
    admin.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "bank"}, "spec": spec})
    ours = json.loads(json.dumps(child(admin, "Service")).replace(f'"{OWNED}"', '"bank"'))
    for how in ("apply", "merge"):
        assert "denied request: rule owner" in answer(thief, how, ours)


def test_a_stolen_token_deletes_children_only(admin: Kube, children: Kube) -> None:
    spec = {"podSelector": {"matchLabels": {"app": "bank"}}}
    metadata = {"name": "bank"}
    admin.create({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec})
    item = item_of("NetworkPolicy", admin.namespace, "{}") + "?dryRun=All"
    with pytest.raises(Rejected, match="rule owner"):
        children.request("DELETE", item.format("bank"))
    children.request("DELETE", item.format(OWNED))


def test_a_stolen_token_deletes_only_pods_that_are_replaced(admin: Kube, children: Kube) -> None:
    """A pod without our label, one with it that stands alone, and one of a ReplicaSet."""
    template = changed(child(admin, "Deployment")["spec"]["template"], lambda _: None)
    template["spec"]["nodeSelector"] = {"llmservice.dev/nowhere": "yes"}
    labels = {**template["metadata"]["labels"], "made": "by-hand"}
    made = {"template": {**template, "metadata": {"labels": labels}}, "selector": {"matchLabels": labels}}
    admin.create({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "replaces"}, "spec": made})
    replaced = admin.wait(lambda: admin.list("Pod", "made=by-hand") or None, lambda: admin.list("Pod"))[0]["metadata"]
    bank = {"containers": [{"name": "x", "image": "x"}], "nodeSelector": {"llmservice.dev/nowhere": "yes"}}
    admin.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "vault"}, "spec": bank})
    item = item_of("Pod", admin.namespace, "{}") + "?dryRun=All"
    for name in ("vault", "pod"):
        with pytest.raises(Rejected, match="denied request: rule pods"):
            children.request("DELETE", item.format(name))
    children.request("DELETE", item.format(replaced["name"]))


def test_a_stolen_token_scales_children_only(admin: Kube, children: Kube) -> None:
    template = {"metadata": {"labels": {"app": "bank"}}, "spec": {"containers": [{"name": "x", "image": "x"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "bank"}}, "template": template}
    admin.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "bank"}, "spec": spec})

    def scale(name: str) -> None:
        body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}, "spec": {"replicas": 1}}
        target = item_of("Deployment", admin.namespace, name, "scale")
        children.request("PATCH", f"{target}?{DRY}&force=true", body, content=PATCHES["apply"])

    with pytest.raises(Rejected, match="denied request: rule scale"):
        scale("bank")
    scale(OWNED)


COST = {"controller.kubernetes.io/pod-deletion-cost": "-5"}


def test_of_a_pod_only_the_order_of_leaving_can_be_written(admin: Kube, children: Kube) -> None:
    live = admin.get("Pod", "pod")
    assert live is not None
    pod: Body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}}
    attempts: dict[str, Body] = {
        "image": {"spec": {"containers": [{**live["spec"]["containers"][0], "image": "evil"}]}},
        "label": {"metadata": {"labels": {"llmservice.dev/name": "other"}}},
        "annotation": {"metadata": {"annotations": {"any": "thing"}}},
        "owner": {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "x"}]}},
        "finalizer": {"metadata": {"finalizers": ["example.com/for-ever"]}},
    }
    for fields in attempts.values():
        body = {**pod, **fields, "metadata": {**pod["metadata"], **fields.get("metadata", {})}}
        for how in ("apply", "merge"):
            assert "denied request: rule pods" in answer(children, how, body)
    ours = {**pod, "metadata": {**pod["metadata"], "annotations": COST}}
    assert [answer(children, how, ours) for how in ("apply", "merge")] == ["", ""]


def test_a_strangers_pod_is_not_written(admin: Kube, thief: Kube) -> None:
    spec = {"containers": [{"name": "x", "image": "x"}], "nodeSelector": {"llmservice.dev/nowhere": "yes"}}
    admin.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bank"}, "spec": spec})
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bank", "annotations": COST}}
    assert "denied request: rule pods" in answer(thief, "merge", body)


def test_no_lease_but_its_own_is_written(thief: Kube) -> None:
    """A create cannot be limited to a name by RBAC."""

    def lease(name: str) -> Body:
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": SYSTEM},
        }

    assert "denied request: rule lease" in answer(thief, "create", lease("kube-scheduler"))
    assert answer(thief, "create", lease(ACCOUNT)) == ""


def test_events_are_told_of_llmservices_only(thief: Kube) -> None:
    def event(kind: str) -> Body:
        about = {"kind": kind, "name": OWNED, "namespace": thief.namespace}
        metadata = {"name": "told", "namespace": thief.namespace}
        return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": about, "reason": "Ready"}

    assert "denied request: rule events" in answer(thief, "create", event("Secret"))
    assert answer(thief, "create", event("LLMService")) == ""


def test_in_kube_system_the_status_of_an_llmservice_can_say_that_it_is_not_served(admin: Kube, thief: Kube) -> None:
    item = item_of("LLMService", "kube-system", "not-served")
    admin.within("kube-system").create(a_tiny_service("not-served"))
    try:
        status = {"status": {"observedGeneration": 1}}
        thief.request("PATCH", f"{item}/status?{DRY}", status, content=PATCHES["merge"])
    finally:
        admin.request("DELETE", item)


@pytest.mark.parametrize("kind", ["Secret", "LLMService"])
def test_whoever_gives_the_operator_more_rights_gives_it_no_more_kinds(admin: Kube, thief: Kube, kind: str) -> None:
    generous = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "generous"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": SYSTEM}],
    }
    admin.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(generous))
    secret: Body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "made"}}
    body = secret if kind == "Secret" else a_tiny_service("made")
    thief.wait(
        lambda: "denied request: rule kinds" in answer(thief, "create", body), lambda: answer(thief, "create", body)
    )


@pytest.mark.parametrize("attempt", ["host-path", "privileged", "sidecar"])
def test_nobody_else_is_asked(admin: Kube, attempt: str) -> None:
    path, fields, _ = BEYOND[attempt]
    body = {**changed(mountless(admin), lambda part: part.update(fields), *path), "metadata": {"name": "theirs"}}
    assert answer(admin, "create", body) == ""
