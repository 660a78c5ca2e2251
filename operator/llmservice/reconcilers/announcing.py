"""Tells how a change is going to reach the replicas, before it does."""

import logging
from datetime import datetime

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.cluster.cluster import Cluster
from llmservice.converging.events import event
from llmservice.converging.rollout_choice import RolloutChoice
from llmservice.converging.rollout_step import RolloutStep
from llmservice.errors import OperatorError, Terminating
from llmservice.objects.references import Manifest, ref_of

log = logging.getLogger(__name__)


async def announce(cluster: Cluster, step: RolloutStep, choice: RolloutChoice, now: datetime) -> None:
    """An Event about the resource; one that cannot be written is only logged.

    What waits is told by a transition of Ready, and what is not worth a word has no message.
    """
    if not (choice.strategy and choice.message):
        return
    log.info("%s: %s", step.service, choice.message)
    await tell(cluster, event(step.body, kind="Normal", reason=Reason.ROLLOUT_PLAN, message=choice.message, now=now))


async def tell(cluster: Cluster, told: Manifest) -> None:
    """Record an Event; one that cannot be written is only logged."""
    try:
        await cluster.record(told)
    except Terminating:
        return
    except OperatorError as error:
        log.warning("%s: event not written: %s", ref_of(told), error)
