"""What is known of one LLMService after a pass: the input of its status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmservice.converging.adapters import LoadedAdapters
from llmservice.converging.conditions import Condition
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.progress import Progress
from llmservice.converging.revisions import InForce
from llmservice.converging.rollout_step import Rollout
from llmservice.converging.scaling_report import ScalingReport
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan

Status = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the status is composed from.

    `plan` is that of the replicas, `newest` that of the last change while it waits. `floor` is the least number of
    ready replicas that the spec requires; `before` is the status as it stands, `update` the UpdateAvailable condition,
    `modified` the ChildrenModified one. `scaling` is the autoscaler's report; None when nothing is scaled, or nothing
    was decided yet. `accelerator` is the AcceleratorInUse condition, `engine` the EngineProgressing one, `start` what
    stands in `status.start`, `startup` what stands in `status.startup`; each None where nothing is known. `unread`: no
    log was read of what starts, and one will be at once. `rollout` is how a change reaches the replicas, `pulling` what
    nodes pull, where that is all that is waited for.
    `hopeless`: starts failed from a cause that no time removes. `adapters` is what ready replicas have of them. Unless
    an activator `can_hold` requests, those for a service that sleeps are lost.
    `hopeless`: starts failed from a cause that no time removes. `adapters` is what ready replicas have of them.
    `route` is the RouteReady condition and `reached` what stands in `status.route`; None without a route.
    """

    plan: ServicePlan
    progress: Progress
    pods: Sequence[Manifest]
    diagnosis: Diagnosis | None
    suspended: bool
    floor: int
    before: Status
    update: Condition | None = None
    modified: Condition | None = None
    scaling: ScalingReport | None = None
    accelerator: Condition | None = None
    engine: Condition | None = None
    start: Status | None = None
    startup: Status | None = None
    unread: bool = False
    revision: InForce | None = None
    source: str | None = None
    rollout: Rollout | None = None
    hopeless: bool = False
    pulling: str = ""
    newest: ServicePlan | None = None
    adapters: Sequence[LoadedAdapters] = ()
    can_hold: bool = True
    route: Condition | None = None
    reached: Status | None = None
