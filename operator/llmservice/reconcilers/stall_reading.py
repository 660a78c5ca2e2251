"""Reads the engines of services that are not autoscaled, through the autoscaler's source and behind it.

A few pods at a time: the source is fair among namespaces, and a round of the autoscaler that comes meanwhile finds its
room. What there is no time for comes first in the next round.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.pod_readings import PodReadings, ReadFailure, Reading
from llmservice.converging.scaled_pods import PodPhase, ScaledPod, scaled_pods
from llmservice.engines.engine import PORT
from llmservice.engines.metric_names import MetricNames
from llmservice.objects.references import Manifest, is_being_deleted, ref_of, uid_of
from llmservice.reconcilers.workloads import pods_in_cache, workload_in_cache
from llmservice.signals.source import Source, Target

_AT_ONCE = 192
_ROUND_SECONDS = 25.0

Note = Callable[[Manifest, Sequence[ScaledPod], PodReadings], None]
"""Told of a service, its pods, and what was read of them."""


class _Unscaled(NamedTuple):
    body: Manifest
    pods: Sequence[ScaledPod]
    metric_names: MetricNames


@dataclass(slots=True, kw_only=True)
class UnscaledEngines:
    """Finds them in the cache. `sources` are those of `spec.autoscaling.source`, by name.

    `metric_names` are those of an engine and version; None where the catalogue does not know them any more.
    """

    cache: ObjectCache
    sources: Mapping[str, Source]
    metric_names: Callable[[str, str], MetricNames | None]
    _read_last: int = 0

    async def read(self, note: Note) -> None:
        """Read all, or as many as there is time for."""
        loop = asyncio.get_running_loop()
        end, services = loop.time() + _ROUND_SECONDS, await self._found()
        begin = self._read_last % max(1, len(services))
        waiting = [*services[begin:], *services[:begin]]
        while waiting and loop.time() < end:
            few = _first_few(waiting)
            await self._read(self._as_they_are(few), note)
            del waiting[: len(few)]
            self._read_last += len(few)

    async def _found(self) -> list[_Unscaled]:
        """Other work of the event loop comes in between any two of them."""
        found = list[_Unscaled]()
        for body in self.cache.of_kind("LLMService"):
            if (service := self._to_read(body)) is not None:
                found.append(service)
            await asyncio.sleep(0)
        return found

    def _as_they_are(self, services: Sequence[_Unscaled]) -> Sequence[_Unscaled]:
        """These services now: they were found up to half a minute ago."""
        bodies = (self.cache.get(ref_of(each.body)) for each in services)
        found = (self._to_read(body) for body in bodies if body is not None)
        return [each for each in found if each is not None]

    def _to_read(self, body: Manifest) -> _Unscaled | None:
        spec, plan = body.get("spec") or {}, (body.get("status") or {}).get("plan") or {}
        if spec.get("autoscaling") or spec.get("suspend") or is_being_deleted(body) or not plan:
            return None
        names = self.metric_names(str(spec.get("engine", "")), str(plan.get("engineVersion", "")))
        return None if names is None else _Unscaled(body, self._pods(body), names)

    def _pods(self, body: Manifest) -> Sequence[ScaledPod]:
        return scaled_pods(pods_in_cache(self.cache, workload_in_cache(self.cache, body)))

    async def _read(self, services: Sequence[_Unscaled], note: Note) -> None:
        targets: dict[Target, str] = {}
        for body, pods, names in services:
            ready = [pod for pod in pods if pod.phase is PodPhase.READY and pod.address]
            targets |= {_target(body, pod, names): uid_of(body) for pod in ready}
        readings: dict[str, dict[str, Reading | ReadFailure]] = {}
        for target, outcome in (await self.sources["Pods"].read([*targets]) if targets else {}).items():
            readings.setdefault(targets[target], {})[target.pod] = outcome
        for body, pods, _ in services:
            live = self.cache.get(ref_of(body))
            if live is None or uid_of(live) != uid_of(body):
                continue  # it went while its pods were read
            note(body, pods, readings.get(uid_of(body), {}))
            await asyncio.sleep(0)


def _first_few(services: Sequence[_Unscaled]) -> Sequence[_Unscaled]:
    """The first services with few pods altogether, at least one."""
    pods = 0
    for number, service in enumerate(services):
        pods += len(service.pods)
        if pods > _AT_ONCE:
            return services[: max(1, number)]
    return services


def _target(body: Manifest, pod: ScaledPod, names: MetricNames) -> Target:
    metadata = body["metadata"]
    return Target(
        namespace=metadata["namespace"],
        service=metadata["name"],
        pod=pod.name,
        address=pod.address,
        port=PORT,
        metric_names=names,
    )
