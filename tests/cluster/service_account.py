"""Users of the API server with a token of their own: an audit log tells them apart, and a token can be withdrawn."""

import json
from pathlib import Path

from tests.cluster.kube import Kube


def kubeconfig_with_token(kube: Kube, account: str, folder: Path) -> tuple[Path, str]:
    """Make a service account that may do everything; returns its kubeconfig and the token in it."""
    metadata = {"name": account, "namespace": kube.namespace}
    accounts = f"/api/v1/namespaces/{kube.namespace}/serviceaccounts"
    kube.request("POST", accounts, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    _bind(kube, account)
    return kubeconfig_of(kube, account, folder)


def kubeconfig_of(kube: Kube, account: str, folder: Path) -> tuple[Path, str]:
    """A kubeconfig of a service account that exists, and the token in it."""
    accounts = f"/api/v1/namespaces/{kube.namespace}/serviceaccounts"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
    token: str = kube.request("POST", f"{accounts}/{account}/token", request)["status"]["token"]
    cluster = json.loads(kube.kubectl("config", "view", "--raw", "--minify", "-o", "json"))["clusters"][0]
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [cluster],
        "users": [{"name": account, "user": {"token": token}}],
        "contexts": [{"name": account, "context": {"cluster": cluster["name"], "user": account}}],
        "current-context": account,
    }
    path = folder / f"{account}.kubeconfig"
    path.write_text(json.dumps(content))
    return path, token


def _bind(kube: Kube, account: str) -> None:
    """The binding belongs to the namespace, so that it goes with it."""
    namespace = kube.request("GET", f"/api/v1/namespaces/{kube.namespace}")["metadata"]
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": namespace["name"], "uid": namespace["uid"]}
    rbac = "rbac.authorization.k8s.io"
    body = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{kube.namespace}-{account}", "ownerReferences": [owner]},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": kube.namespace}],
    }
    kube.request("POST", f"/apis/{rbac}/v1/clusterrolebindings", body)


def withdraw(kube: Kube, account: str) -> None:
    """Delete the account: its tokens are worth nothing from now on."""
    kube.request("DELETE", f"/api/v1/namespaces/{kube.namespace}/serviceaccounts/{account}")
