"""What is remembered of the engines of one service while this process leads, and what follows from their readings."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.concurrency import Preemptions, counted
from llmservice.converging.conditions import Condition
from llmservice.converging.engine_restarts import Stall, last_restart
from llmservice.converging.pod_readings import PodReadings, Reading
from llmservice.converging.scaled_pods import PodPhase, ScaledPod
from llmservice.converging.stalls import EngineProgress, answered, followed, is_suspect, seconds_allowed
from llmservice.models.model_facts import Task
from llmservice.objects.references import Manifest
from llmservice.reconcilers.workers import ServiceKey


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedService:
    """One service as it is now; `devices`, `max_num_seqs`, `model` and `task` are those of the plan in its status."""

    key: ServiceKey
    uid: str
    body: Manifest
    pods: tuple[ScaledPod, ...]
    devices: int
    max_num_seqs: int
    model: str
    task: Task = Task.GENERATE


@dataclass(slots=True, kw_only=True)
class StallState:
    """One service. Only the operator's loop writes; other threads read `key` and the counts.

    `service` is as it was at `noted_at`, and watched since `began`. `stalls` are engines that hang, by UID of the pod;
    `told` is of which pod an Event said what becomes of it. `condition` is what the status is to say; None: nothing.
    """

    service: WatchedService
    began: float
    noted_at: float
    last_restart_at: float | None
    refused_at: float | None = None
    progress: dict[str, EngineProgress] = field(default_factory=dict)
    preemptions: Preemptions = field(default_factory=Preemptions)
    stalls: dict[str, Stall] = field(default_factory=dict)
    told: set[tuple[str, str]] = field(default_factory=set)
    condition: Condition | None = None
    stalls_found: int = 0
    restarts: int = 0

    @property
    def key(self) -> ServiceKey:
        """Namespace and name."""
        return self.service.key

    def note(self, service: WatchedService, readings: PodReadings, now: float) -> None:
        """Remember what a round has read; a pod that could not be read stays as it was.

        Of an engine whose metrics show no steps a long answer looks like none: only its liveness probe tells.
        """
        self.service, self.noted_at = service, now
        ready = [pod for pod in service.pods if pod.phase is PodPhase.READY]
        read = [(pod, reading) for pod in ready if isinstance(reading := readings.get(pod.name), Reading)]
        read = [(pod, reading) for pod, reading in read if reading.shows_steps]
        before, self.progress = self.progress, {}
        self.progress = {pod.uid: before[pod.uid] for pod in ready if pod.uid in before}
        self.progress |= {pod.uid: followed(before.get(pod.uid), reading, pod.restarts) for pod, reading in read}
        gains = [(pod.uid, reading) for pod, reading in read]
        self.preemptions = counted(self.preemptions, gains, service.max_num_seqs, now)

    def suspects(self, stall_seconds: float) -> Sequence[ScaledPod]:
        """Pods that do nothing with their requests, by their metrics."""
        return [
            pod
            for pod in self.service.pods
            if (known := self.progress.get(pod.uid)) and is_suspect(known, self.allowed_seconds(known, stall_seconds))
        ]

    def allowed_seconds(self, known: EngineProgress, stall_seconds: float) -> float:
        """For how long this engine may do nothing."""
        return seconds_allowed(stall_seconds, self.service.devices, known.longest_pause)

    def works(self, pod: ScaledPod) -> None:
        """The engine that was started as often as this one has answered."""
        known = self.progress.get(pod.uid)
        if known is not None and known.restarts == pod.restarts:
            self.progress[pod.uid] = answered(known)

    def hang(self, silent: dict[str, bool]) -> None:
        """These engines hang, by UID of the pod; whether each was asked and did not answer. All others do not."""
        pods = {pod.uid: pod for pod in self.service.pods}
        found = {
            uid: Stall(
                pod=pods[uid].name,
                uid=uid,
                running=round(self.progress[uid].running),
                seconds=self.progress[uid].still_seconds,
                silent=asked,
            )
            for uid, asked in silent.items()
        }
        self.stalls_found += len(found.keys() - self.stalls.keys())
        self.stalls = {
            uid: before if (before := self.stalls.get(uid)) and before.silent == stall.silent else stall
            for uid, stall in found.items()
        }
        self.told = {(uid, outcome) for uid, outcome in self.told if uid in self.stalls}

    def is_replacing(self) -> bool:
        """Whether a replica that was restarted is not back yet: until then the status says why."""
        stalled = self.condition is not None and self.condition.reason is Reason.ENGINE_STALLED
        return stalled and any(pod.phase is not PodPhase.READY for pod in self.service.pods)


def begun(service: WatchedService, led_since: float, now: float) -> StallState:
    """The state of a service that was not watched until now; both times are in seconds since 1970."""
    last = last_restart(service.pods, led_since)
    return StallState(service=service, began=now, noted_at=now, last_restart_at=last)
