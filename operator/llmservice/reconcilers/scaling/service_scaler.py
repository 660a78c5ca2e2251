"""One service at a time: from its readings to its replicas and its status."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.idling import idle_after_seconds
from llmservice.autoscaling.planned import policy_of
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.converging.conditions import timestamp
from llmservice.converging.idle_status import idle_status
from llmservice.converging.pod_readings import PodReadings
from llmservice.converging.replicas import owners_of_replicas
from llmservice.converging.scaling_report import ScalingReport, finding_of, new_problem, report_of, suspended_report
from llmservice.errors import OperatorError
from llmservice.objects.names import AUTOSCALER, OPERATOR
from llmservice.reconcilers.scaling.evaluation import Evaluation
from llmservice.reconcilers.scaling.resting import Resting, start_seconds
from llmservice.reconcilers.scaling.scale_writer import ScaleWriter
from llmservice.reconcilers.scaling.scaled_services import ScaledService
from llmservice.reconcilers.workers import ServiceKey

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class ServiceScaler:
    """Scales one service after the other; what is remembered of each stands in its `ServiceState`.

    `changed` is called with the key of a resource of which the status is to say something else. `clock` gives seconds
    since 1970, `period_seconds` is the time between two rounds. `resting` is None where no service may sleep.
    """

    writer: ScaleWriter
    changed: Callable[[ServiceKey], None]
    clock: Callable[[], float]
    period_seconds: float
    resting: Resting | None = None

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
        bounds = state.bounds.at(service.scaling, now)
        policy = policy_of(service.scaling, bounds, service.plan.max_num_seqs, self.period_seconds)
        desired = state.desired(service.deployment, advise=advise)
        snapshot = state.history.snapshot(service.pods, readings, desired, policy.objective, now)
        rest = self.resting.of(service, bounds) if self.resting else None
        if self.resting is not None and rest is not None:
            snapshot = replace(snapshot, gated=float(self.resting.door.held_for(service.uid, service.key)))
        goes_before = state.idleness.going
        decision = state.decide(policy, snapshot, now, advise=advise, rest=rest)
        self._prepare(service, goes_before=goes_before, is_covered=rest is not None and rest.covered)
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

    def _prepare(self, service: ScaledService, *, goes_before: bool, is_covered: bool) -> None:
        """Have the activators become endpoints before the last replica goes, or leave when it stays after all.

        Again in every round until they are: perhaps none was ready.
        """
        goes = service.state.idleness.going
        if goes == goes_before and (is_covered or not goes):
            return
        self.changed(service.key)
        if self.resting is not None and not goes_before:
            self.resting.look_again(service)

    async def _apply(self, service: ScaledService, snapshot: Snapshot, decision: Decision) -> bool:
        """Write the number; whether the cluster took it."""
        state, deployment = service.state, service.deployment
        live = state.written.live(deployment)
        others = state.written.others(deployment, state.expected(), may_sleep=service.scaling.may_sleep)
        requests = {replica.name: replica.requests for replica in snapshot.ready}
        try:
            await self.writer.apply(service, decision, live, requests)
        except OperatorError as error:
            state.has_not_applied()
            log.warning("%s/%s: %d replicas not applied: %s", *service.key, decision.replicas, error)
            return False
        slept = state.expected() == 0
        state.written.has_applied(deployment, decision.replicas)
        if slept and decision.replicas:
            await self._tell_of_waking(service, live, decision)
        if others:
            state.written.overruled |= others
            message = (
                f"{', '.join(sorted(others))} set {live} replicas, the autoscaler decides: {decision.message}; "
                "remove the other scaler, or set spec.autoscaling.mode to Advise"
            )
            await self.writer.record(service.body, "Warning", Reason.OVERRULED, message)
        return True

    async def _tell_of_waking(self, service: ScaledService, live: int, decision: Decision) -> None:
        """Count it; where somebody else set the replicas, an event tells who. Ours was told with the write."""
        service.state.wakes += 1
        if not live:
            return
        who = ", ".join(sorted(owners_of_replicas(service.deployment) - {OPERATOR, AUTOSCALER})) or "the operator"
        message = f"0 → {live}: set by {who}; {decision.message}"
        await self.writer.record(service.body, "Normal", Reason.SCALED_UP, message)

    async def _report(self, service: ScaledService, readings: PodReadings, decision: Decision, now: float) -> None:
        """Have the status say what is news, and warn of a new problem."""
        state = service.state
        finding = finding_of(decision, service.pods, readings, advise=service.scaling.advise)
        bounds = state.bounds.at(service.scaling, now) if service.scaling.schedules else None
        report = report_of(finding, timestamp(datetime.fromtimestamp(now, UTC)), bounds, self._idle(service, now))
        before = state.report
        if state.throttle.is_due(report, now):
            self._show(service, report)
            problem = new_problem(before, report) if finding.ready else None
            if problem is not None:
                await self.writer.record(service.body, "Warning", problem.reason, problem.message)
        elif state.throttle.renew_checkpoint(state.digest, state.memory, now):
            self.changed(service.key)

    def _idle(self, service: ScaledService, now: float) -> dict[str, Any] | None:
        """`status.autoscaling.idle`; None of a service that always runs."""
        if not service.scaling.may_sleep or service.scaling.advise:
            return None
        start, state = start_seconds(service), service.state
        state.start_seconds = start
        after = idle_after_seconds(service.scaling.idle_after_seconds, start)
        may_rest = state.bounds.at(service.scaling, now).minimum == 0
        return idle_status(state.idleness, after, start, state.held, now, may_rest=may_rest)

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
