"""The plan: everything decided about one LLMService, before any manifest is written.

The parts that have readers of their own stand beside it: pod_plan.py, cache_plan.py, proxy_plan.py, route_plan.py and
scaling_plan.py.
"""

from dataclasses import dataclass

from llmservice.catalog.accelerator import Json
from llmservice.engines.adapters import Adapter
from llmservice.engines.engine import Default
from llmservice.engines.parallelism import ONE_DEVICE, Parallelism
from llmservice.models.model_facts import Task
from llmservice.objects.workloads import DEPLOYMENT, GROUPS
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.fit.verdict import Verdict
from llmservice.planning.pod_plan import ContainerPlan, PodPlan, WorkerPlan
from llmservice.planning.proxy_plan import ProxyPlan
from llmservice.planning.route_plan import RoutePlan
from llmservice.planning.scaling_plan import ScalingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The resource a plan belongs to; children have an owner reference with this UID (none while it is empty)."""

    namespace: str
    name: str
    uid: str
    generation: int


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
