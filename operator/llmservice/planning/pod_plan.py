"""What is decided about the pods of a replica: the container of its engine, placement, security, the other nodes."""

from collections.abc import Mapping
from dataclasses import dataclass

from llmservice.catalog.accelerator import Json
from llmservice.engines.engine import Probes


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPlan:
    """The container `engine`: image, process, environment, probes and how it stops.

    `environment` holds EnvVar objects in order. `startup_seconds` is the budget of a start.
    """

    image: str
    pull_policy: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    environment: tuple[Json, ...]
    probes: Probes
    startup_seconds: int
    pre_stop: tuple[str, ...]
    resource_requests: Mapping[str, str]
    resource_limits: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One volume and where the container sees it. `source` is a Kubernetes volume source: {"emptyDir": {}}."""

    name: str
    path: str
    source: Json
    read_only: bool = False
    sub_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPlan:
    """Placement and security of a replica. `node_terms` are ORed nodeSelectorTerms from the accelerator catalogue.

    `security` is the pod's securityContext, `container_security` the container's; `passthrough` holds the allow-listed
    PodSpec fields of `spec.pod` that need no decision, by their Kubernetes names. `share_process_namespace` gives the
    pod another process 1, for engines that would ignore SIGTERM as process 1. `drained_by_seconds` after its deletion
    the engine ends whatever still runs; the rest of the grace period is for its end.
    """

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    mounts: tuple[Mount, ...]
    node_terms: tuple[Json, ...]
    tolerations: tuple[Json, ...]
    security: Json
    container_security: Json
    passthrough: Json
    termination_grace_seconds: int
    drained_by_seconds: int
    share_process_namespace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlan:
    """The process on the other nodes of a replica; everything else is as in the first node's container and pod.

    `grace_seconds` is how long a pod may take to end after SIGTERM.
    """

    command: tuple[str, ...]
    args: tuple[str, ...]
    grace_seconds: int
