"""The loop: every ten seconds all services are read at once, then decided, acted upon and told one by one."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.scaled_pods import Standing
from llmservice.engines.engine import PORT
from llmservice.objects.references import Manifest, uid_of
from llmservice.reconcilers.scaling.candidates import Candidate, Candidates
from llmservice.reconcilers.scaling.pod_history import PodReadings
from llmservice.reconcilers.scaling.service_scaler import ServiceScaler
from llmservice.reconcilers.workers import ServiceKey
from llmservice.signals.source import ReadFailure, Reading, Source, Target

log = logging.getLogger(__name__)

PERIOD_SECONDS = 10.0
"""Between two looks at a service: the laws count in readings of this length."""


@dataclass(slots=True, kw_only=True)
class Autoscaler:
    """Scales every resource with `spec.autoscaling`, while this process leads.

    `sources` are those of `spec.autoscaling.source`, by name. `measured` takes the seconds of each round over all.
    """

    candidates: Candidates
    scaler: ServiceScaler
    sources: Mapping[str, Source]
    measured: Callable[[float], None] = lambda _: None
    _woken: set[ServiceKey] = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def listen_to(self, cache: ObjectCache) -> None:
        """Hear of edits and deletions from now on."""
        cache.listen(self._observe)

    async def run(self) -> NoReturn:
        """One term of leadership, until cancelled; others lead before and after, so nothing is known beyond it."""
        loop = asyncio.get_running_loop()
        self.scaler.forget_all()
        try:
            while True:
                began = loop.time()
                self._woken.clear()
                await self.look_at([*self.candidates.keys()])
                self.measured(loop.time() - began)
                await self._rest(began + self.scaler.period_seconds)
        finally:
            self.scaler.forget_all()

    async def look_at(self, keys: Iterable[ServiceKey]) -> None:
        """One round over these services: a source that is slow keeps none back that are read from another."""
        services: dict[str, list[Candidate]] = {}
        for key in keys:
            with _contained("/".join(key)):
                if (service := self.candidates.find(key)) is not None:
                    services.setdefault(service.scaling.source, []).append(service)
            await asyncio.sleep(0)
        async with asyncio.TaskGroup() as sources:
            for name, group in services.items():
                sources.create_task(self._look_through(self.sources[name], group))

    async def _look_through(self, source: Source, services: Sequence[Candidate]) -> None:
        """Read at once, then decide one by one; other work of the event loop comes in between any two of them."""
        with _contained("reading"):
            readings = await _read(source, services)
            async with asyncio.TaskGroup() as acts:
                for service in services:
                    acts.create_task(self._look_at(service, readings.get(service.uid, {})))
                    await asyncio.sleep(0)

    async def _look_at(self, service: Candidate, readings: PodReadings) -> None:
        """Decide, act and tell, unless the resource was edited while its pods were read: then it is looked at anew."""
        with _contained("/".join(service.key)):
            if self.candidates.is_current(service):
                await self.scaler.follow(service, self.scaler.decide(service, readings))

    async def _rest(self, until: float) -> None:
        """Wait for the next round; a service whose spec is edited meanwhile is looked at at once."""
        while True:
            try:
                async with asyncio.timeout_at(until):
                    await self._wake.wait()
            except TimeoutError:
                return
            self._wake.clear()
            woken, self._woken = self._woken, set()
            await self.look_at(woken)

    def _observe(self, before: Manifest | None, after: Manifest | None) -> None:
        """What a cache tells: forget what is gone or no longer to be scaled, look at once at what was edited."""
        if "LLMService" not in {body["kind"] for body in (before, after) if body}:
            return
        if before is not None and (after is None or uid_of(before) != uid_of(after) or not _is_scaled(after)):
            self.scaler.forget(uid_of(before))
            self.candidates.forget(uid_of(before))
        if after is not None and _is_scaled(after) and (before is None or _generation(before) != _generation(after)):
            self._woken.add((after["metadata"]["namespace"], after["metadata"]["name"]))
            self._wake.set()


@contextmanager
def _contained(what: str) -> Iterator[None]:
    """A defect of ours ends neither the term nor the round of other services; it is logged whole."""
    try:
        yield
    except Exception:
        log.exception("%s: defect in the autoscaler", what)


async def _read(source: Source, services: Iterable[Candidate]) -> Mapping[str, PodReadings]:
    """What the ready pods of all services say: by UID of the resource, then by name of the pod."""
    uids: dict[Target, str] = {}
    for service in services:
        uids.update(dict.fromkeys(_targets(service), service.uid))
        await asyncio.sleep(0)
    readings: dict[str, dict[str, Reading | ReadFailure]] = {}
    for target, outcome in (await source.read([*uids])).items():
        readings.setdefault(uids[target], {})[target.pod] = outcome
    return readings


def _targets(service: Candidate) -> Iterator[Target]:
    if service.suspended:
        return
    for pod in service.pods:
        if pod.standing is Standing.READY and pod.address:
            yield Target(
                namespace=service.key[0],
                service=service.key[1],
                pod=pod.name,
                address=pod.address,
                port=PORT,
                metric_names=service.metric_names[pod.uid],
            )


def _is_scaled(body: Manifest) -> bool:
    return bool((body.get("spec") or {}).get("autoscaling"))


def _generation(body: Manifest) -> int:
    return int(body["metadata"].get("generation", 0))
