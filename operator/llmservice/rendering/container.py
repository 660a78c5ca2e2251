"""The engine's container."""

import dataclasses

from llmservice.engines.engine import PORT, HttpProbe
from llmservice.objects.names import CONTAINER_NAME
from llmservice.objects.references import Manifest
from llmservice.planning.pod_plan import ContainerPlan, Mount, PodPlan, WorkerPlan

PORT_NAME = "http"
HUNG_SECONDS = 30
"""Grace period after a failed probe: a hung engine finishes no request, so waiting in preStop is in vain."""


def container(plan: ContainerPlan, pod: PodPlan, probed: str | int = PORT_NAME) -> Manifest:
    """The container; empty fields are omitted, as the API server stores them.

    Its port is where clients connect, whichever container of the pod listens there: Service, NetworkPolicy and monitors
    go by its name. `probed` is the port of the probes.
    """
    probes = plan.probes
    manifest: Manifest = {
        "name": CONTAINER_NAME,
        "image": plan.image,
        "imagePullPolicy": plan.pull_policy,
        "args": list(plan.args),
        "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
        "startupProbe": {**_probe(probes.startup, probed), "terminationGracePeriodSeconds": HUNG_SECONDS},
        "readinessProbe": _probe(probes.readiness, probed),
        "livenessProbe": {**_probe(probes.liveness, probed), "terminationGracePeriodSeconds": HUNG_SECONDS},
        "securityContext": dict(pod.container_security),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    if plan.command:
        manifest["command"] = list(plan.command)
    if plan.environment:
        manifest["env"] = list(plan.environment)
    if plan.pre_stop:
        manifest["lifecycle"] = {"preStop": {"exec": {"command": list(plan.pre_stop)}}}
    if pod.mounts:
        manifest["volumeMounts"] = [mount_of(mount) for mount in pod.mounts]
    if resources := _resources(plan):
        manifest["resources"] = resources
    return manifest


_OF_CLIENTS = frozenset({"ports", "startupProbe", "readinessProbe", "livenessProbe", "lifecycle"})


def worker_container(plan: ContainerPlan, worker: WorkerPlan, pod: PodPlan) -> Manifest:
    """The container of a pod that answers nobody: no port, no probes, and nothing to finish before it ends."""
    same = dataclasses.replace(plan, command=worker.command, args=worker.args)
    return {name: value for name, value in container(same, pod).items() if name not in _OF_CLIENTS}


def _probe(probe: HttpProbe, port: str | int) -> Manifest:
    return {
        "httpGet": {"path": probe.path, "port": port, "scheme": "HTTP"},
        "periodSeconds": probe.period_seconds,
        "timeoutSeconds": probe.timeout_seconds,
        "failureThreshold": probe.failures,
    }


def mount_of(mount: Mount) -> Manifest:
    """A mount as a container has it."""
    manifest: Manifest = {"name": mount.name, "mountPath": mount.path}
    if mount.read_only:
        manifest["readOnly"] = True
    if mount.sub_path:
        manifest["subPath"] = mount.sub_path
    return manifest


def _resources(plan: ContainerPlan) -> Manifest:
    amounts = {"requests": dict(plan.resource_requests), "limits": dict(plan.resource_limits)}
    return {name: amount for name, amount in amounts.items() if amount}
