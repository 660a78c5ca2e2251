"""Everything remembered of one service while this process leads, and the pure step from readings to a decision."""

from dataclasses import dataclass, field, replace

from llmservice.autoscaling.deciding import decide
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.planned import policy_of
from llmservice.converging.checkpoints import digest_of, memory_in
from llmservice.converging.replicas import live_replicas, owners_of_replicas
from llmservice.converging.scaled_pods import Standing
from llmservice.converging.scaling_report import Finding, report_in
from llmservice.objects.names import AUTOSCALER, OPERATOR
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.scaling.candidates import Candidate
from llmservice.reconcilers.scaling.evaluations import Evaluation, Record
from llmservice.reconcilers.scaling.pod_history import PodHistory, PodReadings
from llmservice.reconcilers.scaling.status_throttle import StatusThrottle
from llmservice.signals.source import ReadFailure, Reading

_Changes = tuple[tuple[float, int], ...]


@dataclass(slots=True, kw_only=True)
class ServiceState:
    """One service. Made by `begin`. `record` is what others see of it.

    `advised` is what mode Advise would run by now: its decisions go on from there, as if they were applied. `applied`
    is the Deployment that the last number was applied to, as it was seen then, and that number. `overruled` names the
    managers whose number was set back.
    """

    record: Record
    plan: ServicePlan
    digest: str
    memory: Memory
    telling: StatusThrottle
    advised: int | None = None
    applied: tuple[Manifest, int] | None = None
    overruled: set[str] = field(default_factory=set)
    _sightings: PodHistory = field(default_factory=PodHistory)
    _changes_before: _Changes = ()

    @classmethod
    def begin(cls, service: Candidate, record: Record, now: float) -> "ServiceState":
        """Go on from what the status holds."""
        told, digest = report_in(service.body.get("status") or {}), digest_of(service.plan)
        memory = _remembered(told.checkpoint, digest) if told else Memory()
        record.report = told
        return cls(
            record=record,
            plan=service.plan,
            digest=digest,
            memory=memory,
            telling=StatusThrottle(told=told, saved=memory, saved_at=now),
            advised=told.advised if told else None,
        )

    def look(self, service: Candidate, readings: PodReadings, now: float, period_seconds: float) -> Evaluation:
        """Decide, and remember it."""
        self._adopt(service.plan)
        scaling = service.scaling
        policy = policy_of(scaling, service.plan.max_num_seqs, period_seconds)
        asked = self.advised if scaling.advise and self.advised is not None else self.live(service)
        snapshot = self._sightings.look(service.pods, readings, asked=asked, objective=policy.objective, now=now)
        self._changes_before = self.memory.stabilization.changes
        decision, self.memory = decide(policy, snapshot, self.memory, now)
        self.advised = decision.replicas if scaling.advise else None
        return Evaluation(
            at=now,
            plan=service.plan,
            policy=policy,
            pods=service.pods,
            readings=readings,
            snapshot=snapshot,
            decision=decision,
            memory=self.memory,
        )

    def live(self, service: Candidate) -> int:
        """The replicas asked for: what we applied, until a watch shows another Deployment.

        Another one, not another version: after etcd was restored the same version may come again.
        """
        if self.applied is not None and self.applied[0] is service.deployment:
            return self.applied[1]
        return live_replicas(service.deployment)

    def has_applied(self, service: Candidate, replicas: int) -> None:
        """Remember a write that the cache does not show yet."""
        self.applied = service.deployment, replicas

    def has_not_applied(self) -> None:
        """A write failed: its step must not count against the next one."""
        stabilization = replace(self.memory.stabilization, changes=self._changes_before)
        self.memory = replace(self.memory, stabilization=stabilization)

    def others(self, service: Candidate) -> frozenset[str]:
        """Who else has set another number since we did, and was not overruled before."""
        told = self.telling.told
        expected = self.applied[1] if self.applied else told and told.replicas
        if expected is None or self.live(service) == expected:
            return frozenset()
        return owners_of_replicas(service.deployment) - {OPERATOR, AUTOSCALER} - self.overruled

    def _adopt(self, plan: ServicePlan) -> None:
        """What was learnt of other replicas is void; what is known of the traffic is not."""
        if plan is self.plan:
            return
        before, old, self.plan, self.digest = self.plan, self.digest, plan, digest_of(plan)
        if self.digest != old:
            self.memory = self.memory.of_other_replicas()
        elif before.scaling and plan.scaling and before.scaling.policy != plan.scaling.policy:
            self.memory = replace(self.memory, at=None)  # another law goes on from what runs


def _remembered(checkpoint: str, digest: str) -> Memory:
    """The memory of a checkpoint, which names its digest; of other replicas what counts for those of this digest."""
    found = memory_in(checkpoint, digest)
    if found is not None:
        return found
    of_others = memory_in(checkpoint, checkpoint.partition("/")[0])
    return of_others.of_other_replicas() if of_others else Memory()


def finding_of(look: Evaluation) -> Finding:
    """A look as the status tells it."""
    ready = [pod.name for pod in look.pods if pod.standing is Standing.READY]
    unread = {name: look.readings.get(name) for name in ready}
    return Finding(
        decision=look.decision,
        advise=look.advise,
        ready=len(ready),
        silent={name: _why(outcome) for name, outcome in unread.items() if not isinstance(outcome, Reading)},
        obstacles=tuple(pod.obstacle for pod in look.pods if pod.obstacle),
    )


def _why(outcome: ReadFailure | None) -> str:
    return f"{outcome.reason}: {outcome.message}" if outcome is not None else "it has no address yet: wait"
