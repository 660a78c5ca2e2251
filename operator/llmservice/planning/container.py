"""The one container, put together from what was decided."""

import dataclasses
import math

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import Launch, ModelSource, Probes
from llmservice.planning.environment import environment
from llmservice.planning.facts import RegistrySettings
from llmservice.planning.resources import ContainerResources
from llmservice.planning.service_plan import ContainerPlan


def plan_container(
    spec: LLMServiceSpec,
    registry: RegistrySettings,
    source: ModelSource,
    launch: Launch,
    image: str,
    startup_seconds: int,
    resources: ContainerResources,
) -> ContainerPlan:
    """The container; the user's arguments come last, so that they win where they may."""
    return ContainerPlan(
        image=image,
        # Images are pinned, so one that is there already is the right one.
        pull_policy=spec.pod.image_pull_policy or "IfNotPresent",
        command=launch.command,
        args=(*launch.args, *spec.engine_options.args),
        environment=environment(spec, source, launch, registry),
        probes=_allowing(launch.probes, startup_seconds),
        startup_seconds=startup_seconds,
        pre_stop=launch.pre_stop,
        resource_requests=resources.requests,
        resource_limits=resources.limits,
    )


def _allowing(probes: Probes, startup_seconds: int) -> Probes:
    """The probes with a startup probe that fails no sooner than the budget is over."""
    failures = math.ceil(startup_seconds / probes.startup.period_seconds)
    return dataclasses.replace(probes, startup=dataclasses.replace(probes.startup, failures=failures))
