"""Rollbacks: reads what is in force, and has a failed revision given up."""

import dataclasses
import logging
from dataclasses import dataclass
from datetime import datetime

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.giving_up import Verdict, judge
from llmservice.converging.observed import Observed
from llmservice.converging.pod_checks import diagnose
from llmservice.converging.progress import Progress
from llmservice.converging.revisions import InForce, gave_up, in_force
from llmservice.converging.rollback import MakePlan, decide
from llmservice.converging.situation import Situation
from llmservice.converging.startup_budget import late_change
from llmservice.engines.registry import ENGINES
from llmservice.objects.references import Manifest, Ref, controller_uid, uid_of
from llmservice.objects.workloads import kind_for
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.child_writer import Written
from llmservice.reconcilers.workloads import workload_in_cache

log = logging.getLogger(__name__)

_AT_ONCE_SECONDS = 0.05
"""What is given up stands in the status before anything is written back: an operator that is killed goes on there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollbacks:
    """Finds the revision in force of a resource, and gives up one that failed; `plan` makes plans."""

    cluster: Cluster
    cache: ObjectCache
    plan: MakePlan

    async def in_force(self, body: Manifest) -> InForce:
        """The revision that is planned now.

        After a rollback the workload says what served: where it is not in the cache it is read live, so that no gap
        in the cache lets a revision be tried again that was given up.
        """
        live = workload_in_cache(self.cache, body)
        if live is None and gave_up(body):
            kind, metadata = kind_for(body["spec"]), body["metadata"]
            found = await self.cluster.get(Ref(kind, metadata["namespace"], metadata["name"]))
            live = found if found is not None and controller_uid(found) == uid_of(body) else None
        return in_force(body, live)

    def judged(
        self,
        force: InForce,
        service: LLMService,
        situation: Situation,
        observed: Observed,
        written: Written,
        now: datetime,
    ) -> tuple[InForce, float | None]:
        """The revision with its failure if it is given up now, and the seconds until it is to be judged again."""
        plan, owner = situation.plan, situation.plan.owner
        if not _is_change(force, situation) or written.contests or service.spec.rollout.on_failure == "Hold":
            return force, None
        deployment = written.children.get(Ref(plan.workload_kind, owner.namespace, owner.name))
        verdict = verdict_on(plan, situation.progress, deployment, observed, now)
        failed = decide(force, service, plan, verdict, deployment, self.plan, now)
        if failed is None:
            return force, verdict.again_seconds
        log.warning(
            "%s/%s: generation %d is given up: %s", owner.namespace, owner.name, failed.generation, failed.reason
        )
        return dataclasses.replace(force, failed=failed), _AT_ONCE_SECONDS


def verdict_on(
    plan: ServicePlan, progress: Progress, deployment: Manifest | None, observed: Observed, now: datetime
) -> Verdict:
    """Whether the change that is rolled out has failed; `plan` is that of its replicas."""
    pods = observed.updated
    updated = dataclasses.replace(observed, pods=pods)
    found = diagnose(plan, updated, deployment, ENGINES[plan.engine].log_patterns)
    return judge(progress, pods, found, now, late_change(plan, pods, now))


def _is_change(force: InForce, situation: Situation) -> bool:
    """Whether the replicas are being made from something else than what served last, and it was not given up yet."""
    return force.served is not None and not force.failed and situation.source not in {None, force.served.digest}
