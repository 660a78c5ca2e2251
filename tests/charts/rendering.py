"""What the charts and the overlays render to: real Helm, real kubectl, no cluster."""

import functools
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from sandbox.build_helm import helm_build
from sandbox.build_kubernetes import kubernetes_build
from sandbox.cache import cache_folder
from sandbox.progress import Progress

Body = dict[str, Any]

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "llmservice"
OVERLAYS = ROOT / "manifests" / "overlays"
SYSTEM = "llmservice-system"
MONITORING_KINDS = ("PodMonitor", "PrometheusRule", "ServiceMonitor")
NEWEST = "1.34"
COMPONENT = "app.kubernetes.io/component"


class Refused(Exception):
    """Helm said no; the text is its own."""


def helm() -> Path:
    """The program, built when it is not in the cache yet."""
    return helm_build().ensure(cache_folder(), Progress()) / "helm"


def kubectl() -> Path:
    """The program, built when it is not in the cache yet."""
    return kubernetes_build().ensure(cache_folder(), Progress()) / "kubectl"


def text_of(
    values: Body | None = None,
    *,
    release: str = "llmservice",
    kinds: Iterable[str] = MONITORING_KINDS,
    version: str = NEWEST,
    tests: bool = False,
) -> str:
    """What `helm template` prints, for a cluster of this version that has these kinds of the Prometheus operator.

    With `tests` also what `helm test` creates, which is no part of a release.
    """
    command = [str(helm()), "template", release, str(CHART), "--namespace", SYSTEM, "--kube-version", version]
    if not tests:
        command.append("--skip-tests")
    for kind in kinds:
        command += ["--api-versions", f"monitoring.coreos.com/v1/{kind}"]
    return _text((*command, "--values", "-"), json.dumps(values or {}))


def chart(values: Body | None = None, **cluster: Any) -> list[Body]:
    """The objects of the chart."""
    return objects_in(text_of(values, **cluster))


def overlay(name: str) -> list[Body]:
    """The objects of an overlay."""
    return kustomized(OVERLAYS / name)


def kustomized(folder: Path) -> list[Body]:
    """The objects of the kustomization in a folder."""
    return objects_in(_text((str(kubectl()), "kustomize", str(folder)), ""))


def objects_in(text: str) -> list[Body]:
    """The objects in YAML documents."""
    return [body for body in yaml.load_all(text, yaml.CSafeLoader) if body]


def of_kind(bodies: list[Body], kind: str) -> list[Body]:
    """Those of a kind."""
    return [body for body in bodies if body["kind"] == kind]


def one(bodies: list[Body], kind: str) -> Body:
    """The only one of a kind."""
    (found,) = of_kind(bodies, kind)
    return found


def deployment(bodies: list[Body], component: str) -> Body:
    """The Deployment of the operator, or of the activators."""
    (found,) = (body for body in of_kind(bodies, "Deployment") if _component(body["spec"]["template"]) == component)
    return found


def policy_around(component: str, bodies: list[Body]) -> Body:
    """The spec of the NetworkPolicy around the operator, or around the activators."""
    specs: list[Body] = [body["spec"] for body in of_kind(bodies, "NetworkPolicy")]
    (found,) = (spec for spec in specs if spec["podSelector"]["matchLabels"][COMPONENT] == component)
    only: Body = found
    return only


def pod_of(bodies: list[Body], component: str) -> Body:
    """The pod template of the Deployment of a component."""
    template: Body = deployment(bodies, component)["spec"]["template"]
    return template


def operator_container(bodies: list[Body]) -> Body:
    """The operator's container."""
    return container(deployment(bodies, "operator"))


def container(body: Body) -> Body:
    """The one container of a Deployment."""
    (found,) = body["spec"]["template"]["spec"]["containers"]
    only: Body = found
    return only


def _component(body: Body) -> str:
    return str(body["metadata"]["labels"][COMPONENT])


@functools.lru_cache(maxsize=256)
def _text(command: tuple[str, ...], stdin: str) -> str:
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    if done.returncode != 0:
        raise Refused(done.stderr)
    return done.stdout
