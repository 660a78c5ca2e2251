"""One service at a time: from its readings to its replicas and its status."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.planned import policy_of
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.converging.conditions import timestamp
from llmservice.converging.pod_readings import PodReadings
from llmservice.converging.scaling_report import ScalingReport, finding_of, new_problem, report_of, suspended_report
from llmservice.errors import OperatorError
from llmservice.reconcilers.scaling.evaluation import Evaluation
from llmservice.reconcilers.scaling.scale_writer import ScaleWriter
from llmservice.reconcilers.scaling.scaled_services import ScaledService
from llmservice.reconcilers.workers import ServiceKey

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class ServiceScaler:
    """Scales one service after the other; what is remembered of each stands in its `ServiceState`.

    `changed` is called with the key of a resource of which the status is to say something else. `clock` gives seconds
    since 1970, `period_seconds` is the time between two rounds.
    """

    writer: ScaleWriter
    changed: Callable[[ServiceKey], None]
    clock: Callable[[], float]
    period_seconds: float

    async def scale(self, service: ScaledService, readings: PodReadings) -> None:
        """Decide, write and report. What the cluster refuses is tried again in the next round."""
        now = self.clock()
        service.state.adopt(service.plan, service.body.get("status") or {}, now)
        if service.suspended:
            self._suspend(service)
            return
        snapshot, decision = self._decide(service, readings, now)
        if service.scaling.advise or await self._apply(service, snapshot, decision):
            await self._report(service, readings, decision, now)

    def _decide(self, service: ScaledService, readings: PodReadings, now: float) -> tuple[Snapshot, Decision]:
        """What the pods did, and the number it asks for; both are published for /explain and /metrics."""
        state, advise = service.state, service.scaling.advise
        bounds = state.bounds_at(service.scaling, now)
        policy = policy_of(service.scaling, bounds, service.plan.max_num_seqs, self.period_seconds)
        desired = state.desired(service.deployment, advise=advise)
        snapshot = state.history.snapshot(service.pods, readings, desired, policy.objective, now)
        decision = state.decide(policy, snapshot, now, advise=advise)
        evaluation = Evaluation(
            at=now,
            plan=service.plan,
            policy=policy,
            bounds=bounds,
            pods=service.pods,
            readings=readings,
            snapshot=snapshot,
            decision=decision,
            memory=state.memory,
        )
        state.publish(evaluation)
        return snapshot, decision

    async def _apply(self, service: ScaledService, snapshot: Snapshot, decision: Decision) -> bool:
        """Write the number; whether the cluster took it."""
        state, deployment = service.state, service.deployment
        live, others = state.live(deployment), state.other_writers(deployment)
        requests = {replica.name: replica.requests for replica in snapshot.ready}
        try:
            await self.writer.apply(service, decision, live, requests)
        except OperatorError as error:
            state.has_not_applied()
            log.warning("%s/%s: %d replicas not applied: %s", *service.key, decision.replicas, error)
            return False
        state.has_applied(deployment, decision.replicas)
        if others:
            state.overruled |= others
            message = (
                f"{', '.join(sorted(others))} set {live} replicas, the autoscaler decides: {decision.message}; "
                "remove the other scaler, or set spec.autoscaling.mode to Advise"
            )
            await self.writer.record(service.body, "Warning", Reason.OVERRULED, message)
        return True

    async def _report(self, service: ScaledService, readings: PodReadings, decision: Decision, now: float) -> None:
        """Have the status say what is news, and warn of a new problem."""
        state = service.state
        finding = finding_of(decision, service.pods, readings, advise=service.scaling.advise)
        bounds = state.bounds_at(service.scaling, now) if service.scaling.schedules else None
        report, before = report_of(finding, timestamp(datetime.fromtimestamp(now, UTC)), bounds), state.report
        if state.throttle.is_due(report, now):
            self._show(service, report)
            problem = new_problem(before, report) if finding.ready else None
            if problem is not None:
                await self.writer.record(service.body, "Warning", problem.reason, problem.message)
        elif state.throttle.renew_checkpoint(state.digest, state.memory, now):
            self.changed(service.key)

    def _suspend(self, service: ScaledService) -> None:
        """Nothing is decided; the status says so, and keeps what was decided before."""
        state = service.state
        state.evaluation, report = None, suspended_report(state.report)
        if state.report is None or report.differs_from(state.report):
            self._show(service, report)

    def _show(self, service: ScaledService, report: ScalingReport) -> None:
        state = service.state
        state.throttle.record(report, state.digest, state.memory, self.clock())
        self.changed(service.key)
