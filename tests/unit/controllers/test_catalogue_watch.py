"""The overlay's ConfigMap on a fake API server: what planning gets, and what is said about a broken one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import load_catalogue
from llmservice.controllers.catalogue_watch import CatalogueWatch
from llmservice.errors import Unavailable
from llmservice.objects.references import Manifest, Ref
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.unit.cluster.fake_api_server import (
    FakeApiServer,
    a_list,
    a_status,
    a_watch,
    an_event,
    answer,
    serving,
)
from tests.unit.until import until

OURS = Ref("ConfigMap", "system", "our-gpus")
GOOD = {"accelerators.yaml": "accelerators: [{name: L5, vendor: nvidia, memory_gib: 30}]"}
BETTER = {"accelerators.yaml": "accelerators: [{name: L6, vendor: nvidia, memory_gib: 60}]"}
BROKEN = {"accelerators.yaml": "accelerators: [{name: L5, vendor: nvidai, memory_gib: 30}]"}


def a_config_map(data: dict[str, str], version: int = 1) -> Manifest:
    metadata = {"namespace": "system", "name": "our-gpus", "uid": "u-1", "resourceVersion": str(version)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


@dataclass
class Watched:
    """A watch at work, and what came of it."""

    watch: CatalogueWatch
    cluster: InMemoryCluster
    catalogues: list[Catalogue] = field(default_factory=list)

    def accelerators(self) -> list[set[str]]:
        """The names each catalogue has beyond the shipped ones."""
        shipped = load_catalogue().accelerators.keys()
        return [set(catalogue.accelerators.keys() - shipped) for catalogue in self.catalogues]

    async def events(self) -> list[Manifest]:
        return await self.cluster.list("Event", "system")


@asynccontextmanager
async def watching(fake: FakeApiServer) -> AsyncIterator[Watched]:
    cluster, used = InMemoryCluster(), list[Catalogue]()
    async with serving(fake) as connection:
        watch = CatalogueWatch(
            connection=connection,
            cluster=cluster,
            ref=OURS,
            use=used.append,
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
            again_seconds=0.001,
        )
        task = asyncio.create_task(watch.run())
        try:
            async with asyncio.timeout(10):
                yield Watched(watch, cluster, used)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_what_is_there_at_the_start_is_in_use_before_anybody_plans() -> None:
    fake = FakeApiServer(lists=[a_list(1, a_config_map(GOOD))], watches=[a_watch()])
    async with watching(fake) as watched:
        await watched.watch.settled.wait()
        assert watched.accelerators() == [{"L5"}]
        assert fake.requests[0].query["fieldSelector"] == "metadata.name=our-gpus"
        assert fake.requests[0].path == "/api/v1/namespaces/system/configmaps"


async def test_without_it_nothing_changes() -> None:
    async with watching(FakeApiServer(lists=[a_list(1)], watches=[a_watch()])) as watched:
        await watched.watch.settled.wait()
        assert watched.catalogues == []


async def test_an_edit_is_in_use_at_once_and_removal_goes_back_to_the_shipped_rows() -> None:
    events = [an_event("MODIFIED", a_config_map(BETTER, 3)), an_event("DELETED", a_config_map(BETTER, 4))]
    fake = FakeApiServer(lists=[a_list(2, a_config_map(GOOD, 2))], watches=[a_watch(*events)])
    async with watching(fake) as watched:
        await until(lambda: len(watched.catalogues) == 3)
        assert watched.accelerators() == [{"L5"}, {"L6"}, set()]
        assert watched.catalogues[-1] is load_catalogue()


async def test_an_edit_of_its_metadata_alone_changes_nothing() -> None:
    events = [an_event("MODIFIED", a_config_map(GOOD, 3)), an_event("MODIFIED", a_config_map(BETTER, 4))]
    fake = FakeApiServer(lists=[a_list(2, a_config_map(GOOD, 2))], watches=[a_watch(*events)])
    async with watching(fake) as watched:
        await until(lambda: len(watched.catalogues) > 1)
        assert watched.accelerators() == [{"L5"}, {"L6"}]


async def test_etcd_restored_as_another_watch_noticed_means_that_it_is_listed_again() -> None:
    """It alone may hear nothing of it: its own versions need not have gone back."""
    fake = FakeApiServer(
        lists=[a_list(9, a_config_map(GOOD, 9)), a_list(3, a_config_map(BETTER, 3))],
        watches=[a_watch()],
    )
    async with watching(fake) as watched:
        await until(lambda: len(fake.requests) == 2)
        watched.watch.history.went_back("Pod", 9, 3)
        await until(lambda: len(watched.catalogues) == 2)
        assert watched.accelerators() == [{"L5"}, {"L6"}]


async def test_a_broken_edit_leaves_the_last_good_catalogue_and_is_told_by_an_event(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fake = FakeApiServer(
        lists=[a_list(2, a_config_map(GOOD, 2))], watches=[a_watch(an_event("MODIFIED", a_config_map(BROKEN, 3)))]
    )
    async with watching(fake) as watched:
        await until(lambda: watched.cluster.writes)
        (told,) = await watched.events()
        assert watched.accelerators() == [{"L5"}]
        assert watched.watch.problem.startswith("accelerators.yaml: L5: vendor nvidai ")
        assert (told["type"], told["reason"]) == ("Warning", "InvalidCatalogue")
        assert told["message"] == watched.watch.problem
        assert told["involvedObject"]["kind"] == "ConfigMap"
        assert "the last good catalogue stays" in caplog.text


@pytest.mark.parametrize("text", ["accelerators: !!int abc", "accelerators: [{name: L5, memory_gib: 2026-02-30}]"])
async def test_a_value_that_yaml_cannot_read_at_the_start_is_told_and_holds_up_nothing(text: str) -> None:
    fake = FakeApiServer(lists=[a_list(2, a_config_map({"accelerators.yaml": text}, 2))], watches=[a_watch()])
    async with watching(fake) as watched:
        await watched.watch.settled.wait()
        await until(lambda: watched.cluster.writes)
        assert watched.catalogues == []
        assert watched.watch.problem.startswith("accelerators.yaml: ")


async def test_a_defect_of_the_reader_is_a_problem_of_the_config_map_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def defect(_: object) -> Catalogue:
        raise RuntimeError("nobody thought of this")

    monkeypatch.setattr("llmservice.controllers.catalogue_watch.overlaid", defect)
    async with watching(FakeApiServer(lists=[a_list(2, a_config_map(GOOD, 2))], watches=[a_watch()])) as watched:
        await watched.watch.settled.wait()
        await until(lambda: watched.cluster.writes)
        assert watched.watch.problem.startswith("cannot be read: RuntimeError: nobody thought of this;")
        assert "Traceback" in caplog.text


async def test_a_replica_that_begins_to_lead_tells_of_what_is_still_broken() -> None:
    fake = FakeApiServer(lists=[a_list(2, a_config_map(BROKEN, 2))], watches=[a_watch()])
    standing_by = iter([True] * 3)

    def before(verb: str, _: Ref) -> None:
        if verb == "record" and next(standing_by, False):
            raise Unavailable("NotLeader", "another replica leads")

    async with watching(fake) as watched:
        watched.cluster.before = before
        await until(lambda: watched.cluster.writes)
        assert len(await watched.events()) == 1


async def test_a_correction_ends_the_problem() -> None:
    fake = FakeApiServer(
        lists=[a_list(2, a_config_map(BROKEN, 2))], watches=[a_watch(an_event("MODIFIED", a_config_map(GOOD, 3)))]
    )
    async with watching(fake) as watched:
        await until(lambda: watched.catalogues)
        assert (watched.accelerators(), watched.watch.problem) == ([{"L5"}], "")


async def test_without_the_right_the_shipped_rows_are_used_and_nothing_waits(caplog: pytest.LogCaptureFixture) -> None:
    forbidden = answer(403, a_status(403, "configmaps is forbidden", "Forbidden"))
    async with watching(FakeApiServer(lists=[forbidden], watches=[a_watch()])) as watched:
        await watched.watch.settled.wait()
        assert watched.catalogues == []
        assert "the shipped catalogue is used: configmaps is forbidden" in caplog.text
