"""Other devices for a service whose replicas no node takes: after a while the next of its alternatives is tried."""

import logging
from dataclasses import dataclass, field
from datetime import datetime

from llmservice.converging.patience import PATIENCE_SECONDS, holds_devices, seconds_of_patience_left
from llmservice.converging.situation import Situation
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.desired import Desired, Planner

log = logging.getLogger(__name__)


@dataclass(slots=True)
class OtherDevices:
    """Remembers, by UID, when the last replica that goes was seen to hold its devices."""

    _freed: dict[str, datetime] = field(default_factory=dict)

    def forget(self, uid: str) -> None:
        """Forget a deleted resource."""
        self._freed.pop(uid, None)

    def patience(self, desired: Desired, situation: Situation, now: datetime) -> float | None:
        """Seconds until other devices are tried.

        None while nothing waits for a node, where there are no alternatives, after a rollback, and of replicas that
        run while the last change waits.
        """
        if not desired.service.spec.gpu.alternatives or desired.force.source or situation.newest:
            return None
        uid = desired.plan.owner.uid
        if holds_devices(situation.pods):
            self._freed[uid] = now
        return seconds_of_patience_left(situation.progress, situation.pods, now, self._freed.get(uid))


def next_choice(planner: Planner, desired: Desired, situation: Situation) -> ServicePlan | None:
    """The plan with other devices, because no node had these for a while; None when there are none."""
    said = situation.diagnosis.message if situation.diagnosis else "no node fits"
    plan, owner = desired.plan, desired.plan.owner
    following = planner.next_choice(desired.service, plan, f"for {PATIENCE_SECONDS / 60:.0f} minutes {said}")
    if following is not None:
        taken = f"{following.devices} × {following.accelerator}"
        log.info("%s/%s: takes %s in place of %s", owner.namespace, owner.name, taken, plan.accelerator)
    return following
