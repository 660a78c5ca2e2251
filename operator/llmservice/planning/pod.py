"""The pod around the container: allow-listed fields of spec.pod, volumes, placement and security."""

from typing import Any

from llmservice.api.v1alpha1.pod import PodOptions
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Json
from llmservice.engines.engine import Launch, ModelSource
from llmservice.planning.drain import drained_by_seconds
from llmservice.planning.facts import RegistrySettings
from llmservice.planning.generated_files import file_annotations, generated_mounts
from llmservice.planning.placement import Placement
from llmservice.planning.pod_plan import Mount, PodPlan
from llmservice.planning.pod_room import room_mounts
from llmservice.planning.security import Security
from llmservice.planning.volumes import ScratchSizes, file_mounts, scratch_mounts
from llmservice.planning.weights import weight_mounts

_DECIDED = {
    "labels",
    "annotations",
    "tolerations",
    "imagePullSecrets",
    "imagePullPolicy",
    "resources",
    "sharedMemory",
    "networkDevices",
    "lockMemory",
    "hugePages",
    "mounts",
    "securityContext",
}
"""Fields of `spec.pod` that have a decision of their own; the others are passed through."""


def plan_pod(
    spec: LLMServiceSpec,
    registry: RegistrySettings,
    launch: Launch,
    grace_seconds: int,
    placement: Placement,
    security: Security,
    mounts: tuple[Mount, ...],
) -> PodPlan:
    """The pod, with what is mounted in its container."""
    return PodPlan(
        labels=spec.pod.labels,
        annotations={**spec.pod.annotations, **file_annotations(launch.files)},
        mounts=mounts,
        node_terms=placement.node_terms,
        tolerations=placement.tolerations,
        security=security.pod,
        container_security=security.container,
        passthrough=_passthrough(spec.pod, registry),
        termination_grace_seconds=grace_seconds,
        drained_by_seconds=drained_by_seconds(spec),
        share_process_namespace=launch.needs_init,
    )


def choose_mounts(
    spec: LLMServiceSpec, source: ModelSource, launch: Launch, sizes: ScratchSizes, compiled: str
) -> tuple[Mount, ...]:
    """Weights, writable folders, volumes and files; raises InvalidSpec for what cannot be mounted at its path.

    `compiled` is the folder of the cache's claim for what the engine compiles, empty for none.
    """
    folders = (*weight_mounts(source, launch, compiled), *scratch_mounts(launch, sizes))
    ours = (*folders, *generated_mounts(launch.files))
    beside = (*ours, *room_mounts(spec.pod, beside=ours))
    return (*beside, *file_mounts(spec.engine_options.files, beside=beside))


def _passthrough(pod: PodOptions, registry: RegistrySettings) -> Json:
    """The user's fields as written, and the pull secrets of user and cluster, each once."""
    fields: dict[str, Any] = {
        name: value for name, value in pod.as_json().items() if name not in _DECIDED and value not in ({}, [])
    }
    secrets = dict.fromkeys([*(secret.name for secret in pod.image_pull_secrets), *registry.pull_secrets])
    return {**fields, "imagePullSecrets": [{"name": name} for name in secrets]} if secrets else fields
