"""The plan: everything decided about one LLMService, before any manifest is written."""

from collections.abc import Mapping
from dataclasses import dataclass

from llmservice.catalog.accelerator import Json
from llmservice.engines.adapters import Adapter
from llmservice.engines.engine import Default, HttpProbe, Probes
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.parallelism import ONE_DEVICE, Parallelism
from llmservice.models.download_request import DownloadRequest
from llmservice.models.model_facts import Task
from llmservice.objects.workloads import DEPLOYMENT, GROUPS
from llmservice.planning.fit.verdict import Verdict
from llmservice.planning.route_plan import RoutePlan

__all__ = [
    "CachePlan",
    "ContainerPlan",
    "Default",
    "Json",
    "KeysPlan",
    "LoadTargets",
    "Mount",
    "OwnedClaim",
    "Owner",
    "PodPlan",
    "ProxyPlan",
    "RolloutPlan",
    "RoutePlan",
    "ScalingPlan",
    "Schedule",
    "ServicePlan",
    "WorkerPlan",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The resource a plan belongs to; children have an owner reference with this UID (none while it is empty)."""

    namespace: str
    name: str
    uid: str
    generation: int


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
class RolloutPlan:
    """Surge: new replicas start first. Replace: old ones stop first, so that no extra GPU is needed.

    `by_free_devices`: which of both is chosen when a rollout begins, and this is Replace. Without `allow_downtime` no
    change takes the last replica that serves away.
    """

    max_surge: int
    max_unavailable: int
    progress_deadline_seconds: int
    by_free_devices: bool = False
    allow_downtime: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedClaim:
    """A claim that the operator makes. `size` is a quantity; an empty `storage_class` is the cluster's default."""

    storage_class: str
    size: str
    access_modes: tuple[str, ...]
    retained: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePlan:
    """The claim that the model is downloaded to before replicas start.

    `owned` is None for a claim of the user's. `expected_bytes` is 0 where the size of the model is not known.
    `weights` is what the engine loads, a path relative to the root of the claim; empty until the download said it.
    `missing` are the downloads of what is loaded beside the model that did not answer yet.
    """

    claim: str
    request: DownloadRequest
    owned: OwnedClaim | None = None
    expected_bytes: int = 0
    weights: str = ""
    missing: tuple[DownloadRequest, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlan:
    """The process on the other nodes of a replica; everything else is as in the first node's container and pod.

    `grace_seconds` is how long a pod may take to end after SIGTERM.
    """

    command: tuple[str, ...]
    args: tuple[str, ...]
    grace_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysPlan:
    """The Secret with the keys of clients; an empty `entry` means that every entry is one."""

    name: str
    entry: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyPlan:
    """The proxy before an engine, in a container that starts before the engine's and stops after it.

    It `measures` for an engine that does not: `running` requests are with the engine at once, `queued` wait, and its
    own metrics are shown; else the engine's are, both numbers are 0 and the engine queues itself. `connections` are
    those of clients. `keys` is None where none are asked for. `probes` are answered by the engine, without a key;
    `/health` means the first. `client_paths` are what clients may ask for, as in `Capabilities`. `stop_seconds` is the
    longest that it goes on after its stop began.
    """

    image: str
    pull_policy: str
    measures: bool
    running: int
    queued: int
    connections: int
    keys: KeysPlan | None
    probes: tuple[HttpProbe, ...]
    security: Json
    resource_requests: Mapping[str, str]
    resource_limits: Mapping[str, str]
    stop_seconds: int
    client_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTargets:
    """Target load per replica; None ignores a signal. `kv_use` is a ratio 0–1, the others are requests."""

    kv_use: float | None = None
    waiting: float | None = None
    running: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Other bounds of the autoscaler at times of the week; None keeps its own.

    `days` are those on which it begins, 0 is Monday. `start` and `end` are minutes since midnight by the clock of
    `time_zone`; an `end` that is not later than `start` is one of the next day.
    """

    name: str
    days: frozenset[int]
    start: int
    end: int
    time_zone: str
    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPlan:
    """How replicas are decided: bounds, policy and signals.

    `advise`: decided and explained, never applied. `policy`, `reserve` and `source` are the values of the spec.
    `metric_names` are the names of the metrics in this version of the engine. `measured` are (tokens, decode steps) a
    second of one replica at levels of load that somebody measured. `minimum` and `maximum` hold while none of the
    `schedules` does. A service that `may_sleep` runs no replica after `idle_after_seconds` without a request; None: by
    what its start takes.
    """

    minimum: int
    maximum: int
    advise: bool
    policy: str
    targets: LoadTargets
    ttft_seconds: float
    tpot_seconds: float
    reserve: str
    source: str
    metric_names: MetricNames
    measured: tuple[tuple[float, float], ...] = ()
    schedules: tuple[Schedule, ...] = ()
    idle_after_seconds: int | None = None

    @property
    def may_sleep(self) -> bool:
        """Whether there are times at which no replica need run."""
        return self.minimum == 0 or any(each.minimum == 0 for each in self.schedules)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePlan:
    """Everything decided about one LLMService.

    `replica_bound` is the largest number of replicas the spec allows for (decides the PodDisruptionBudget).
    `scaling` is None without autoscaling. `admitted` are the peers of the NetworkPolicy; None: no policy.
    `pod_security` is the strictest Pod Security Standard that the pods pass. `facts` is the compact JSON of the
    catalogue rows and settings that were used: kept in status, so that the same generation is always planned from the
    same facts. `render_version` is the version of the rendering. `offload_layers` is how many layers were asked to be
    on devices (None: all); with `verify_devices` a replica counts as ready only when its engine uses its devices. `fit`
    is None where nothing is computed: on CPUs, or where the resource ignores it. `cache` is None where replicas load
    the model from where it is. `task` is what the model is asked for; `adapters` are those of the model, which come and
    go while replicas run if these are `live_adapters`; clients ask for `adapters_named` as for models. `parallelism` is
    how the devices share the model. `proxy` is None where clients talk to the engine itself, `route` where only the
    cluster reaches the service. Of a replica on several `nodes` each has a share of the `devices`, the first answers,
    and `worker` is what runs on the others; on one it is None.
    """

    owner: Owner
    engine: str
    engine_version: str
    model: str
    names: tuple[str, ...]
    quantization: str
    accelerator: str
    devices: int
    resource_name: str
    max_model_len: int
    max_num_seqs: int
    container: ContainerPlan
    pod: PodPlan
    rollout: RolloutPlan
    replica_bound: int
    scaling: ScalingPlan | None
    admitted: tuple[Json, ...] | None
    pod_security: str
    defaults: tuple[Default, ...]
    notes: tuple[str, ...]
    facts: str
    render_version: int
    fit: Verdict | None = None
    offload_layers: int | None = None
    verify_devices: bool = True
    cache: CachePlan | None = None
    task: Task = Task.GENERATE
    adapters: tuple[Adapter, ...] = ()
    live_adapters: bool = False
    adapters_named: bool = False
    parallelism: Parallelism = ONE_DEVICE
    proxy: ProxyPlan | None = None
    nodes: int = 1
    worker: WorkerPlan | None = None
    route: RoutePlan | None = None

    @property
    def devices_of_node(self) -> int:
        """Devices that one pod asks for."""
        return self.devices // self.nodes

    @property
    def workload_kind(self) -> str:
        """The kind that makes the replicas: of single pods, or of groups of them."""
        return DEPLOYMENT if self.worker is None else GROUPS

    @property
    def may_sleep(self) -> bool:
        """Whether there are times at which no replica need run, because requests are held meanwhile."""
        return self.scaling is not None and self.scaling.may_sleep

    @property
    def minimum(self) -> int | None:
        """The autoscaler's lower bound; None where it does not set replicas."""
        return self.scaling.minimum if self.scaling is not None and not self.scaling.advise else None
