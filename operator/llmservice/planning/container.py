"""The engine's container, assembled from the decisions."""

import dataclasses
import math

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import Launch, ModelSource, Probes
from llmservice.planning.environment import environment
from llmservice.planning.facts import RegistrySettings
from llmservice.planning.pod_plan import ContainerPlan, WorkerPlan
from llmservice.planning.resources import ContainerResources


def plan_container(
    spec: LLMServiceSpec,
    registry: RegistrySettings,
    source: ModelSource,
    launch: Launch,
    image: str,
    startup_seconds: int,
    probe_seconds: int,
    resources: ContainerResources,
) -> ContainerPlan:
    """The container; the user's arguments come last, so that they override ours.

    `startup_seconds` is the budget of a start, `probe_seconds` after how long the kubelet ends one.
    """
    return ContainerPlan(
        image=image,
        # Images are pinned, so one that is already on the node is the right one.
        pull_policy=spec.pod.image_pull_policy or "IfNotPresent",
        command=launch.command,
        args=(*launch.args, *spec.engine_options.args),
        environment=environment(spec, source, launch, registry),
        probes=_patient(launch.probes, probe_seconds),
        startup_seconds=startup_seconds,
        pre_stop=launch.pre_stop,
        resource_requests=resources.requests,
        resource_limits=resources.limits,
    )


def plan_worker(spec: LLMServiceSpec, launch: Launch) -> WorkerPlan | None:
    """What runs on the other nodes of a replica, with the user's arguments last as on the first; None on one node."""
    worker = launch.worker
    if worker is None:
        return None
    args = (*worker.args, *spec.engine_options.args)
    return WorkerPlan(command=worker.command, args=args, grace_seconds=worker.stop_seconds)


def _patient(probes: Probes, seconds: int) -> Probes:
    """The probes with a startup probe that does not fail before that."""
    failures = math.ceil(seconds / probes.startup.period_seconds)
    return dataclasses.replace(probes, startup=dataclasses.replace(probes.startup, failures=failures))
