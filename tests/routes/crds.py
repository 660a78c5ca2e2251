"""The published CRDs, as their projects ship them in their Go modules: had when they are asked for, never kept here."""

import json
from functools import partial
from pathlib import Path

from sandbox.commands import run
from tests.cluster.kube import Kube

GATEWAY_API = ("v1.2.1", "v1.3.0", "v1.4.1", "v1.5.0")
"""From the oldest whose HTTPRoute has timeouts in its standard channel to the newest: each is installed over the one
before."""
INFERENCE_EXTENSION = ("v1.0.1", "v1.5.0", "v1.6.0")

_GATEWAY_KINDS = ("gatewayclasses", "gateways", "httproutes")
_GROUP = "gateway.networking.k8s.io"


def install_gateway_api(kube: Kube, version: str = GATEWAY_API[-1]) -> None:
    """GatewayClass, Gateway and HTTPRoute of this version, served when it returns."""
    folder = _module("sigs.k8s.io/gateway-api", version) / "config" / "crd" / "standard"
    _install(kube, [folder / f"{_GROUP}_{kind}.yaml" for kind in _GATEWAY_KINDS])


def install_inference_extension(kube: Kube, version: str = INFERENCE_EXTENSION[-1]) -> None:
    """InferencePool of this version, served when it returns."""
    folder = _module("sigs.k8s.io/gateway-api-inference-extension", version) / "config" / "crd" / "bases"
    _install(kube, [folder / "inference.networking.k8s.io_inferencepools.yaml"])


def remove(kube: Kube) -> None:
    """Every CRD of both, with the objects."""
    names = [f"{kind}.{_GROUP}" for kind in _GATEWAY_KINDS] + ["inferencepools.inference.networking.k8s.io"]
    kube.kubectl("delete", "crd", "--ignore-not-found", *names)


def _install(kube: Kube, files: list[Path]) -> None:
    for file in files:
        kube.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(file))
        kube.wait(partial(_is_served, kube, file), partial(kube.kubectl, "get", "-f", str(file)), 60)


def _is_served(kube: Kube, file: Path) -> bool:
    """Whether a CRD is; `kubectl wait` fails on one so new that nobody has written its conditions."""
    status = json.loads(kube.kubectl("get", "-f", str(file), "-o", "json")).get("status") or {}
    return any((each["type"], each["status"]) == ("Established", "True") for each in status.get("conditions") or ())


def _module(name: str, version: str) -> Path:
    """Where Go keeps a module, its sums checked against the public database."""
    folder: str = json.loads(run(["go", "mod", "download", "-json", f"{name}@{version}"]))["Dir"]
    return Path(folder)
