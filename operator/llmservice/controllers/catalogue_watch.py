"""The administrator's catalogue: a ConfigMap is watched, and planning uses the rows it adds or replaces.

A broken one changes nothing: the last good catalogue stays, and the log and an Event on the ConfigMap say what to
correct. Without one, planning uses the shipped rows.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.overlay import overlaid
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.history import History
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection
from llmservice.converging.events import event
from llmservice.errors import InvalidCatalogue, OperatorError, Refused, Unavailable
from llmservice.objects.references import Manifest, Ref

log = logging.getLogger(__name__)

_REFUSED_AGAIN_SECONDS = 600.0


@dataclass(slots=True, kw_only=True)
class CatalogueWatch:
    """Watches one ConfigMap until cancelled. `use` is called with each new catalogue.

    `settled` is set after the first attempt to read the ConfigMap: found, absent, or forbidden. `problem` is what is
    wrong with it at present; empty when nothing is. `again_seconds` is the pause before a failed request is repeated.
    `history` is shared by all that watch the same API server: the ConfigMap is listed again in each.
    """

    connection: Connection
    cluster: Cluster
    ref: Ref
    use: Callable[[Catalogue], None]
    now: Callable[[], datetime]
    history: History = field(default_factory=History)
    again_seconds: float = 2.0
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    problem: str = ""
    _broken: asyncio.Queue[tuple[Manifest, str]] = field(default_factory=asyncio.Queue)

    async def run(self) -> NoReturn:
        """Watch and report. Never returns, never raises but when cancelled."""
        reporting = asyncio.create_task(self._report())
        try:
            informer = self._informer()
            await self._first_list(informer)
            self.settled.set()
            await informer.run()
        finally:
            reporting.cancel()

    def _informer(self) -> Informer:
        cache = ObjectCache()
        cache.listen(self._take)
        return Informer(
            connection=self.connection,
            cache=cache,
            selection=Selection(
                kind=self.ref.kind, namespace=self.ref.namespace, field_selector=f"metadata.name={self.ref.name}"
            ),
            history=self.history,
        )

    async def _first_list(self, informer: Informer) -> None:
        """List until it works. Without the right nothing waits for it, and the log says so once."""
        while True:
            try:
                return await informer.relist()
            except Refused as refusal:
                if not self.settled.is_set():
                    log.warning("%s is not read, the shipped catalogue is used: %s", self.ref, refusal)
                self.settled.set()
                await asyncio.sleep(_REFUSED_AGAIN_SECONDS)
            except OperatorError as error:
                log.warning("%s: %s", self.ref, error)
                await asyncio.sleep(self.again_seconds)

    def _take(self, before: Manifest | None, after: Manifest | None) -> None:
        """A change of the ConfigMap; its metadata alone changes nothing."""
        if before is not None and after is not None and _data(before) == _data(after):
            return
        try:
            catalogue = load_catalogue() if after is None else overlaid(_data(after))
        except InvalidCatalogue as invalid:
            self._refuse(after, str(invalid))
            return
        except Exception as defect:
            # Whatever somebody writes there, resources are served on.
            log.exception("%s: defect while reading it", self.ref)
            self._refuse(after, f"cannot be read: {type(defect).__name__}: {defect}")
            return
        self.problem = ""
        log.info("%s: %s", self.ref, "gone, the shipped catalogue is used" if after is None else "in use")
        self.use(catalogue)

    def _refuse(self, config_map: Manifest | None, why: str) -> None:
        self.problem = f"{why}; the last good catalogue stays until this is corrected"
        log.warning("%s: %s", self.ref, self.problem)
        if config_map is not None:
            self._broken.put_nowait((config_map, self.problem))

    async def _report(self) -> NoReturn:
        while True:
            await self._tell(*await self._broken.get())

    async def _tell(self, config_map: Manifest, problem: str) -> None:
        """Write an Event about a broken ConfigMap; while that is not possible, try again until all is well."""
        while problem == self.problem:
            warning = event(config_map, kind="Warning", reason="InvalidCatalogue", message=problem, now=self.now())
            try:
                await self.cluster.record(warning)
            except Unavailable:  # among others: another replica leads, and tells
                await asyncio.sleep(self.again_seconds)
                continue
            except OperatorError as error:
                log.warning("%s: event not written: %s", self.ref, error)
            return


def _data(config_map: Manifest) -> dict[str, str]:
    """Both kinds of data: nothing in it is passed over without a word."""
    return {**(config_map.get("data") or {}), **(config_map.get("binaryData") or {})}
