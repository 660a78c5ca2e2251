"""Requests that ended with their engine, by the last reading before its end. A count of what must never happen."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.engine_ends import cut_short
from llmservice.converging.pod_readings import PodReadings, Reading
from llmservice.objects.pods import engine_of
from llmservice.objects.references import Manifest, Ref, uid_of
from llmservice.reconcilers.scaling.scaled_services import ScaledService
from llmservice.reconcilers.scaling.service_states import ServiceStates

log = logging.getLogger(__name__)

_FRESH_SECONDS = 30.0
"""Of a pod that is gone without a word: after an outage of the watch it may have ended well meanwhile."""


@dataclass(frozen=True, slots=True)
class _Load:
    """What a pod had in it `at` (seconds since 1970); `reserve_seconds` as `cut_short` takes them."""

    service: str
    requests: int
    at: float
    reserve_seconds: float


@dataclass(slots=True, kw_only=True)
class Truncations:
    """Follows every pod that was read, and counts into the state of its service. `clock` in seconds since 1970.

    Engines do not tell: they count what was aborted after the last time that anybody could ask them, and vLLM counts
    clients that hang up among it. So the requests of the last reading are taken, at most a round old.
    """

    states: ServiceStates
    cache: ObjectCache
    clock: Callable[[], float]
    _loads: dict[str, _Load] = field(default_factory=dict)

    def listen_to(self, cache: ObjectCache) -> None:
        """Hear of pods from now on."""
        cache.listen(self._observe)

    def forget_all(self) -> None:
        """Another replica leads, or has led: nothing is known of any pod."""
        self._loads.clear()

    def note(self, service: ScaledService, readings: PodReadings) -> PodReadings:
        """Remember what each pod has in it; returns the readings of those that stay, from which is decided."""
        leaving = {pod.name: pod.uid for pod in service.leaving}
        restarts = {pod.name: pod.restarts for pod in service.pods}
        pods = leaving | {pod.name: pod.uid for pod in service.pods}
        pod_plan = service.plan.pod
        reserve = pod_plan.termination_grace_seconds - pod_plan.drained_by_seconds
        for name, reading in readings.items():
            if isinstance(reading, Reading):
                service.state.truncated = service.state.truncated or 0
                requests = round(reading.counters.running + reading.counters.waiting)
                if self._runs(Ref("Pod", service.key[0], name), pods[name], restarts.get(name)):
                    self._loads[pods[name]] = _Load(service.uid, requests, reading.at, reserve)
        return {name: reading for name, reading in readings.items() if name not in leaving}

    def _runs(self, ref: Ref, uid: str, restarts: int | None) -> bool:
        """Whether the run that was read goes on: of one that ended meanwhile the end was told already.

        `restarts` are those of the engine when it was asked; None of a leaving pod, which is not started again.
        """
        pod = self.cache.get(ref)
        if pod is None or uid_of(pod) != uid:
            return False
        engine = engine_of(pod)
        is_same = restarts is None or int(engine.get("restartCount", 0)) == restarts
        return is_same and not (engine.get("state") or {}).get("terminated")

    def _observe(self, before: Manifest | None, after: Manifest | None) -> None:
        """What the cache reports: a pod that was read may have ended."""
        if before is None or (load := self._loads.get(uid_of(before))) is None:
            return
        same = after if after is not None and uid_of(after) == uid_of(before) else None
        cut = cut_short(before, same, load.reserve_seconds)
        if cut is None:
            return
        del self._loads[uid_of(before)]
        if cut and (same is not None or self.clock() - load.at <= _FRESH_SECONDS):
            self._count(before, load)

    def _count(self, pod: Manifest, load: _Load) -> None:
        state = self.states.known(load.service)
        if state is None or not load.requests:
            return
        state.truncated = (state.truncated or 0) + load.requests
        log.warning("%s/%s: pod %s ended with %d requests in it", *state.key, pod["metadata"]["name"], load.requests)
