"""One service at a time: decide, act, tell."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.conditions import timestamp
from llmservice.converging.scaling_report import ScalingReport, new_problem, report_of, suspended_report
from llmservice.errors import OperatorError
from llmservice.reconcilers.scaling.candidates import Candidate
from llmservice.reconcilers.scaling.evaluations import Evaluation, Evaluations
from llmservice.reconcilers.scaling.pod_history import PodReadings
from llmservice.reconcilers.scaling.scale_writer import ScaleWriter
from llmservice.reconcilers.scaling.service_state import ServiceState, finding_of
from llmservice.reconcilers.workers import ServiceKey
from llmservice.signals.source import ReadFailure

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class ServiceScaler:
    """Remembers each service by the UID of its resource.

    `changed` is called with the key of a resource of which the status is to say something else. `clock` gives seconds
    since 1970, `period_seconds` is the time between two looks.
    """

    actor: ScaleWriter
    looks: Evaluations
    changed: Callable[[ServiceKey], None]
    clock: Callable[[], float]
    period_seconds: float
    _tracks: dict[str, ServiceState] = field(default_factory=dict)

    def forget_all(self) -> None:
        """Drop everything: what the statuses hold counts."""
        self._tracks.clear()
        self.looks.clear()

    def forget(self, uid: str) -> None:
        """Drop what belongs to a resource that is gone or no longer scaled."""
        self._tracks.pop(uid, None)
        self.looks.forget(uid)

    def decide(self, service: Candidate, readings: PodReadings) -> Evaluation | None:
        """Decide for one service; None while it is suspended."""
        now = self.clock()
        track = self._tracks.get(service.uid)
        if track is None:
            record = self.looks.record(service.key, service.uid, self.period_seconds)
            track = self._tracks[service.uid] = ServiceState.begin(service, record, now)
        record = track.record
        if service.suspended:
            record.look, report = None, suspended_report(track.telling.told)
            if track.telling.told is None or report.says_else(track.telling.told):
                self._tell(service, track, report)
            return None
        look = track.look(service, readings, now, self.period_seconds)
        record.look = look
        record.decisions[look.decision.reason] += 1
        record.failures.update(str(item.reason) for item in readings.values() if isinstance(item, ReadFailure))
        return look

    async def follow(self, service: Candidate, look: Evaluation | None) -> None:
        """Do what was decided, and tell what is news. What the cluster refuses is tried again with the next look."""
        track = self._tracks.get(service.uid)
        if track is None or look is None:
            return
        try:
            if not look.advise:
                await self._apply(service, track, look)
        except OperatorError as error:
            track.has_not_applied()
            log.warning("%s/%s: %d replicas not applied: %s", *service.key, look.decision.replicas, error)
            return
        finding = finding_of(look)
        report = report_of(finding, timestamp(datetime.fromtimestamp(look.at, UTC)))
        before = track.telling.told
        if track.telling.is_news(report, look.at):
            self._tell(service, track, report)
            problem = new_problem(before, report) if finding.ready else None
            if problem is not None:
                await self.actor.record(service.body, "Warning", problem.reason, problem.message)
        elif track.telling.save(track.digest, track.memory, look.at):
            self._show(service, track)

    async def _apply(self, service: Candidate, track: ServiceState, look: Evaluation) -> None:
        live, others = track.live(service), track.others(service)
        held = {member.name: member.requests for member in look.snapshot.ready}
        await self.actor.apply(service, look.decision, live, held)
        track.has_applied(service, look.decision.replicas)
        if others:
            track.overruled |= others
            message = (
                f"{', '.join(sorted(others))} set {live} replicas, the autoscaler decides: {look.decision.message}; "
                "remove the other scaler, or set spec.autoscaling.mode to Advise"
            )
            await self.actor.record(service.body, "Warning", Reason.OVERRULED, message)

    def _tell(self, service: Candidate, track: ServiceState, report: ScalingReport) -> None:
        track.telling.tell(report, track.digest, track.memory, self.clock())
        self._show(service, track)

    def _show(self, service: Candidate, track: ServiceState) -> None:
        track.record.report = track.telling.told
        self.changed(service.key)
