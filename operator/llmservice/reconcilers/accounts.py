"""Counts what the devices of all services do and cost, while this process leads.

A look every thirty seconds, from the caches alone; what engines say is taken as the autoscaler and the watch over
engines read it. The status is written for it every ten minutes at most, and it is renewed with every other write.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from llmservice.accounting.statement import Tariff
from llmservice.catalog.catalogue import Catalogue
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.held_pods import habits_of, held_pods, work_reading
from llmservice.converging.pod_readings import PodReadings, Reading
from llmservice.converging.scaled_pods import ScaledPod
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, is_being_deleted, ref_of, uid_of
from llmservice.reconcilers.account import Account, cost_in, opened, tariff_of
from llmservice.reconcilers.workers import ServiceKey
from llmservice.reconcilers.workloads import pods_in_cache, workload_in_cache

log = logging.getLogger(__name__)

PERIOD_SECONDS = 30.0


@dataclass(slots=True, kw_only=True)
class Accounts:
    """All services that hold devices, or did yesterday.

    `catalogue` is the one in use, `clock` gives seconds since 1970, `changed` is called with the key of a resource of
    which the status is to say something else.
    """

    cache: ObjectCache
    catalogue: Callable[[], Catalogue]
    clock: Callable[[], float]
    changed: Callable[[ServiceKey], None] = lambda _: None
    by_key: dict[ServiceKey, Account] = field(default_factory=dict)
    _tariff: Tariff | None = None
    _tariff_of: Catalogue | None = None

    def listen_to(self, cache: ObjectCache) -> None:
        """Hear of pods and resources that go, from now on."""
        cache.listen(self._observe)

    @property
    def tariff(self) -> Tariff:
        """The prices in use."""
        catalogue = self.catalogue()
        if self._tariff is None or self._tariff_of is not catalogue:
            self._tariff, self._tariff_of = tariff_of(catalogue), catalogue
        return self._tariff

    async def run(self) -> NoReturn:
        """One term of leadership, until cancelled; others lead before and after, so nothing is known beyond it."""
        self.by_key.clear()
        prices = self.catalogue().prices
        try:
            while True:
                before, prices = prices, self.catalogue().prices
                await self.round(anew=prices != before)
                await asyncio.sleep(PERIOD_SECONDS)
        finally:
            self.by_key.clear()

    async def round(self, *, anew: bool = False) -> None:
        """Look at every service; `anew`: all are to be told, because prices have changed.

        Other work of the event loop comes in between any two of them.
        """
        for ref in map(ref_of, self.cache.of_kind("LLMService")):
            body = self.cache.get(ref)  # since the round began it may have gone, or another may have its name
            if body is not None:
                self._looked(body, anew=anew)
            await asyncio.sleep(0)

    def note(self, body: Manifest, pods: Sequence[ScaledPod], readings: PodReadings) -> None:
        """Remember what was read of a service, whoever read it."""
        if (account := self._known(body)) is None:
            return
        for pod in pods:
            if isinstance(reading := readings.get(pod.name), Reading):
                account.readings[pod.uid] = work_reading(reading, account.readings.get(pod.uid))

    def with_cost(self, body: Manifest, before: Mapping[str, Any], status: dict[str, Any]) -> dict[str, Any]:
        """The status that is to be written over `before`, with `status.cost`.

        It is the newest where something else is written too, or where it is due: else what was told before.
        """
        account, bare = self._known(body), _bare(status)
        if account is None:
            return {**bare, "cost": before["cost"]} if "cost" in before else bare
        if bare != _bare(before) or account.is_due(self.clock()):
            self._count(account, body)
            account.tell(self.tariff, self.clock())
        return {**bare, "cost": account.told} if account.told else bare

    def _known(self, body: Manifest) -> Account | None:
        account = self.by_key.get(_key(body))
        return account if account is not None and account.uid == uid_of(body) else None

    def _looked(self, body: Manifest, *, anew: bool) -> None:
        """Look; a defect keeps no other service from being counted."""
        try:
            self._look(body, anew=anew)
        except Exception:
            log.exception("%s/%s: defect while devices are counted", *_key(body))

    def _look(self, body: Manifest, *, anew: bool) -> None:
        """Count what the devices of a service did since the last look, and have it told where that is due."""
        account, now = self._known(body), self.clock()
        if account is None:
            if is_being_deleted(body) or not (_plan(body).get("devices") or cost_in(body)):
                return
            account = self.by_key[_key(body)] = opened(_key(body), body, now)
        self._count(account, body)
        account.due_at = now if anew else account.due_at
        if account.is_due(now) and account.statement(self.tariff, now) != account.told:
            self.changed(account.key)

    def _count(self, account: Account, body: Manifest) -> None:
        catalogue, tariff = self.catalogue(), self.tariff
        held = held_pods(
            self._pods(body), _plan(body), account.readings, lambda name: catalogue.device(name) is not None
        )
        account.book(account.ledger.looked(held, self.clock(), habits_of(body), tariff.zone), tariff)
        account.readings.clear()

    def _pods(self, body: Manifest) -> Sequence[Manifest]:
        """All that hold devices. Of a group only the leader is read: nothing says that the others are idle."""
        return pods_in_cache(self.cache, workload_in_cache(self.cache, body))

    def _observe(self, before: Manifest | None, after: Manifest | None) -> None:
        """Listener of the cache: a resource that goes is forgotten, a pod that goes is counted to its end."""
        if before is None or (after is not None and uid_of(after) == uid_of(before)):
            return
        metadata = before["metadata"]
        if before["kind"] == "LLMService":
            if self._known(before) is not None:
                del self.by_key[_key(before)]
        elif before["kind"] == "Pod" and (name := (metadata.get("labels") or {}).get(NAME_LABEL)):
            account = self.by_key.get((metadata["namespace"], name))
            if account is not None:
                account.book(account.ledger.without(uid_of(before), self.clock(), self.tariff.zone), self.tariff)


def _key(body: Manifest) -> ServiceKey:
    return body["metadata"]["namespace"], body["metadata"]["name"]


def _plan(body: Manifest) -> Mapping[str, Any]:
    plan = (body.get("status") or {}).get("plan")
    return plan if isinstance(plan, Mapping) else {}


def _bare(status: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in status.items() if name != "cost"}
