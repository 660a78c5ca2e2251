"""The real controller of LeaderWorkerSets beside the cluster: its published CRD, its webhooks, and its process."""

import base64
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox import Sandbox
from sandbox.build_lws import CRDS, PROGRAM, lws_build
from sandbox.cache import cache_folder
from sandbox.certificates import DAYS, KEY
from sandbox.commands import run
from sandbox.progress import Progress
from tests.cluster.kube import Body, Kube
from tests.ports import free_port

SYSTEM = "lws-system"
_SETS = "leaderworkerset-x-k8s-io-v1-leaderworkerset"
_READY = "Starting workers"


@contextmanager
def crds(kube: Kube) -> Iterator[None]:
    """The CRDs as their module publishes them; taken away again, with all objects."""
    file = str(lws_build().ensure(cache_folder(), Progress()) / CRDS)
    kube.kubectl("apply", "--server-side", "-f", file)
    kube.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", file)
    try:
        yield
    finally:
        kube.kubectl("delete", "--ignore-not-found", "-f", file)


@contextmanager
def running(kube: Kube, box: Sandbox, folder: Path) -> Iterator[None]:
    """The controller with its webhooks, by which pods of a group get their number and their leader's name."""
    port, log = free_port(), folder / "lws.log"
    certificate = _certificate(folder, box.bridge_address)
    kube.kubectl("create", "namespace", SYSTEM, check=False)
    arguments = ("--config", str(_configuration(folder, box.bridge_address, port)), "--leader-elect=false")
    program = lws_build().folder(cache_folder()) / PROGRAM
    environment = {**os.environ, "KUBECONFIG": str(kube.kubeconfig), "OPERATOR_NAMESPACE": SYSTEM}
    with log.open("wb") as out:
        process = subprocess.Popen([str(program), *arguments], env=environment, stdout=out, stderr=out)  # noqa: S603
    try:
        kube.wait(lambda: _READY in log.read_text() or None, lambda: log.read_text()[-2000:], seconds=60)
        webhooks = _webhooks(f"https://{box.bridge_address}:{port}", certificate)
        for webhook in webhooks:
            kube.request("POST", _collection(webhook), webhook)
        yield
        assert process.poll() is None, log.read_text()[-4000:]
    finally:
        for webhook in _webhooks("", b""):
            kube.kubectl("delete", webhook["kind"], webhook["metadata"]["name"], "--ignore-not-found")
        process.terminate()
        process.wait(30)


def _configuration(folder: Path, address: str, port: int) -> Path:
    file = folder / "lws.yaml"
    file.write_text(
        "apiVersion: config.lws.x-k8s.io/v1alpha1\n"
        "kind: Configuration\n"
        f"webhook: {{host: {address}, port: {port}, certDir: {folder}}}\n"
        f'health: {{healthProbeBindAddress: "127.0.0.1:{free_port()}"}}\n'
        'metrics: {bindAddress: "0"}\n'
        "internalCertManagement: {enable: false}\n"
    )
    return file


def _certificate(folder: Path, address: str) -> bytes:
    """Signed by itself: the API server is told to trust it."""
    files = ["-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt")]
    names = ["-subj", "/CN=lws", "-addext", f"subjectAltName=IP:{address}"]
    run(["openssl", "req", "-x509", *KEY, *DAYS, *names, *files])
    return (folder / "tls.crt").read_bytes()


def _webhooks(url: str, certificate: bytes) -> list[Body]:
    """As config/webhook/manifests.yaml of its module has them."""
    sets = ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", ["CREATE", "UPDATE"])
    pods = ("", "v1", "pods", ["CREATE"])
    defaults = {f"mutate-{_SETS}": sets, "mutate--v1-pod": pods}
    checks = {f"validate-{_SETS}": sets, "validate--v1-pod": pods}
    return [_webhook("Mutating", defaults, url, certificate), _webhook("Validating", checks, url, certificate)]


def _webhook(kind: str, paths: dict[str, tuple[str, str, str, list[str]]], url: str, certificate: bytes) -> Body:
    hooks = [
        {
            "name": f"{path}.kb.io".replace("--", "-"),
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"url": f"{url}/{path}", "caBundle": base64.b64encode(certificate).decode()},
            "rules": [{"apiGroups": [group], "apiVersions": [version], "resources": [kinds], "operations": how}],
        }
        for path, (group, version, kinds, how) in paths.items()
    ]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": "lws"},
        "webhooks": hooks,
    }


def _collection(webhook: Body) -> str:
    return f"/apis/admissionregistration.k8s.io/v1/{webhook['kind'].lower()}s"
