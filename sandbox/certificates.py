"""The sandbox's own certificate authority, what it signs, and kubeconfigs made of that (elliptic curves: quick)."""

import base64
import json
from pathlib import Path

from sandbox.commands import run
from sandbox.files import write
from sandbox.settings import NODE, SandboxSpec

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
DAYS = ["-days", "3650"]
# kubeconfig → its user and group, as Kubernetes' built-in roles know them.
USERS = {
    "admin": "/O=system:masters/CN=sandbox-admin",
    "controller-manager": "/CN=system:kube-controller-manager",
    "scheduler": "/CN=system:kube-scheduler",
    "proxy": "/CN=system:kube-proxy",
    "kubelet": f"/O=system:nodes/CN=system:node:{NODE}",
}


def ensure_certificates(spec: SandboxSpec) -> Path:
    """The folder `pki`: everything in it is made once; a file that is there is whole."""
    pki = spec.folder / "pki"
    pki.mkdir(parents=True, exist_ok=True)
    _certificate(pki, "ca", "/CN=llmservice-sandbox", ["-x509"])
    _service_account_key(pki)
    _certificate(pki, "server", "/CN=kube-apiserver", [*_signed(pki), "-addext", f"subjectAltName={_names(spec)}"])
    for name, subject in USERS.items():
        _certificate(pki, name, subject, _signed(pki))
        _kubeconfig(pki / f"{name}.kubeconfig", "https://127.0.0.1:6443", pki, name)
    _kubeconfig(spec.kubeconfig, spec.server, pki, "admin")
    return pki


def _signed(pki: Path) -> list[str]:
    return ["-x509", "-CA", str(pki / "ca.crt"), "-CAkey", str(pki / "ca.key"), "-addext", "basicConstraints=CA:FALSE"]


def _names(spec: SandboxSpec) -> str:
    addresses = (spec.addresses.node, spec.addresses.services.network_address + 1, "127.0.0.1")
    hosts = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
    return ",".join([*(f"DNS:{host}" for host in hosts), *(f"IP:{address}" for address in addresses)])


def _certificate(pki: Path, name: str, subject: str, options: list[str]) -> None:
    if (pki / f"{name}.crt").exists():
        return
    partial = pki / f"{name}.partial"
    files = ["-keyout", str(pki / f"{name}.key"), "-out", str(partial)]
    run(["openssl", "req", *KEY, *DAYS, "-subj", subject, *options, *files])
    partial.replace(pki / f"{name}.crt")  # the certificate last: it stands for the key too


def _service_account_key(pki: Path) -> None:
    if (pki / "service-accounts.pub").exists():
        return
    key, partial = pki / "service-accounts.key", pki / "service-accounts.partial"
    run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(key)])
    run(["openssl", "ec", "-in", str(key), "-pubout", "-out", str(partial)])
    partial.replace(pki / "service-accounts.pub")


def _kubeconfig(path: Path, server: str, pki: Path, name: str) -> None:
    """JSON, which is YAML; the credentials are inside, so that the file can be used from anywhere."""
    cluster = {"server": server, "certificate-authority-data": _embedded(pki / "ca.crt")}
    user = {
        "client-certificate-data": _embedded(pki / f"{name}.crt"),
        "client-key-data": _embedded(pki / f"{name}.key"),
    }
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sandbox", "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": name}}],
        "current-context": "sandbox",
    }
    write(path, json.dumps(document, indent=1), mode=0o600)


def _embedded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
