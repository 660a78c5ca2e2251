"""The loop: every ten seconds all services are read at once, then scaled one by one."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.pod_readings import PodReadings, ReadFailure, ReadFailureReason, Reading
from llmservice.converging.scaled_pods import LeavingPod, PodPhase, ScaledPod
from llmservice.engines.engine import PORT
from llmservice.objects.names import WAKE_ANNOTATION
from llmservice.objects.references import Manifest, uid_of
from llmservice.reconcilers.scaling.scaled_services import ScaledService, ScaledServices
from llmservice.reconcilers.scaling.service_scaler import ServiceScaler
from llmservice.reconcilers.scaling.truncations import Truncations
from llmservice.reconcilers.workers import ServiceKey
from llmservice.signals.source import Source, Target

log = logging.getLogger(__name__)

PERIOD_SECONDS = 10.0
"""Between two rounds: the laws count in readings of this length."""

_NO_ADDRESS = ReadFailure(reason=ReadFailureReason.NO_ADDRESS, message="it has no address yet: wait")


@dataclass(slots=True, kw_only=True)
class Autoscaler:
    """Scales every resource with `spec.autoscaling`, while this process leads.

    `sources` are those of `spec.autoscaling.source`, by name. `measured` takes the seconds of each round over all.
    `noted` is told what was read of each service.
    """

    services: ScaledServices
    scaler: ServiceScaler
    sources: Mapping[str, Source]
    measured: Callable[[float], None] = lambda _: None
    noted: Callable[[Manifest, Sequence[ScaledPod], PodReadings], None] = lambda *_: None
    truncations: Truncations = field(init=False)
    _woken: set[ServiceKey] = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.truncations = Truncations(states=self.services.states, cache=self.services.cache, clock=self.scaler.clock)

    def listen_to(self, cache: ObjectCache) -> None:
        """Hear of edits and deletions from now on."""
        cache.listen(self._observe)
        self.truncations.listen_to(cache)

    def hurry(self, key: ServiceKey) -> None:
        """Scale this service at once, not with the next round."""
        self._woken.add(key)
        self._wake.set()

    async def run(self) -> NoReturn:
        """One term of leadership, until cancelled; others lead before and after, so nothing is known beyond it."""
        loop = asyncio.get_running_loop()
        self._forget_all()
        try:
            while True:
                began = loop.time()
                self._woken.clear()
                await self.scale([*self.services.keys()])
                self.measured(loop.time() - began)
                await self._rest(began + self.scaler.period_seconds)
        finally:
            self._forget_all()

    def _forget_all(self) -> None:
        self.services.states.forget_all()
        self.truncations.forget_all()

    async def scale(self, keys: Iterable[ServiceKey]) -> None:
        """One round over these services: a source that is slow keeps none back that are read from another."""
        services: dict[str, list[ScaledService]] = {}
        for key in keys:
            with _contained("/".join(key)):
                if (service := self.services.find(key)) is not None:
                    services.setdefault(service.scaling.source, []).append(service)
            await asyncio.sleep(0)
        async with asyncio.TaskGroup() as sources:
            for name, group in services.items():
                sources.create_task(self._read_and_scale(self.sources[name], group))

    async def _read_and_scale(self, source: Source, services: Sequence[ScaledService]) -> None:
        """Read at once, then scale one by one; other work of the event loop comes in between any two of them."""
        with _contained("reading"):
            readings = await _read(source, services)
            async with asyncio.TaskGroup() as tasks:
                for service in services:
                    tasks.create_task(self._scale(service, readings.get(service.uid, {})))
                    await asyncio.sleep(0)

    async def _scale(self, service: ScaledService, readings: PodReadings) -> None:
        """Scale it, unless the resource was edited while its pods were read: then the edit has woken another round."""
        with _contained("/".join(service.key)):
            readings = self.truncations.note(service, readings)
            if self.services.is_current(service):
                self.noted(service.body, service.pods, readings)
                await self.scaler.scale(service, readings)

    async def _rest(self, until: float) -> None:
        """Wait for the next round; a service whose spec is edited meanwhile is scaled at once.

        Edits without end put off no round: a set event ends the wait even where the time is over.
        """
        loop = asyncio.get_running_loop()
        while loop.time() < until:
            try:
                async with asyncio.timeout_at(until):
                    await self._wake.wait()
            except TimeoutError:
                return
            self._wake.clear()
            woken, self._woken = self._woken, set()
            await self.scale(woken)

    def _observe(self, before: Manifest | None, after: Manifest | None) -> None:
        """What a cache reports: forget what is gone or no longer to be scaled, wake for what was edited."""
        if "LLMService" not in {body["kind"] for body in (before, after) if body}:
            return
        if before is not None and (after is None or uid_of(before) != uid_of(after) or not _is_scaled(after)):
            self.services.states.forget(uid_of(before))
        if after is not None and _is_scaled(after) and (before is None or _asked(before) != _asked(after)):
            self.hurry((after["metadata"]["namespace"], after["metadata"]["name"]))


@contextmanager
def _contained(what: str) -> Iterator[None]:
    """A defect of ours ends neither the term nor the round of other services; it is logged whole."""
    try:
        yield
    except Exception:
        log.exception("%s: defect in the autoscaler", what)


async def _read(source: Source, services: Iterable[ScaledService]) -> Mapping[str, PodReadings]:
    """What the ready and the leaving pods of all services report: by UID of the resource, then by name of the pod."""
    readings: dict[str, dict[str, Reading | ReadFailure]] = {}
    uids: dict[Target, str] = {}
    for service in services:
        ready = () if service.suspended else [pod for pod in service.pods if pod.phase is PodPhase.READY]
        readings[service.uid] = {pod.name: _NO_ADDRESS for pod in ready if not pod.address}
        uids.update({_target(service, pod): service.uid for pod in (*ready, *service.leaving) if pod.address})
        await asyncio.sleep(0)
    for target, outcome in (await source.read([*uids])).items():
        readings[uids[target]][target.pod] = outcome
    return readings


def _target(service: ScaledService, pod: ScaledPod | LeavingPod) -> Target:
    return Target(
        namespace=service.key[0],
        service=service.key[1],
        pod=pod.name,
        address=pod.address,
        port=PORT,
        metric_names=service.metric_names[pod.uid],
    )


def _is_scaled(body: Manifest) -> bool:
    return bool((body.get("spec") or {}).get("autoscaling"))


def _asked(body: Manifest) -> tuple[str, int, str]:
    """What a user asks for: a resource, its spec, and to be woken."""
    metadata = body["metadata"]
    return (
        uid_of(body),
        int(metadata.get("generation", 0)),
        (metadata.get("annotations") or {}).get(WAKE_ANNOTATION, ""),
    )
