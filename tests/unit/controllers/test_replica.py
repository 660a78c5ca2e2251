import asyncio
import logging

import aiohttp
import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.leadership.lease import Election
from llmservice.cluster.watching.history import History
from llmservice.controllers.replica import Replica, election_in
from llmservice.errors import NotLeader
from llmservice.reconcilers.scaling.service_states import ServiceStates
from llmservice.reconcilers.workers import ServiceKey
from llmservice.settings import Settings
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.ports import free_port
from tests.unit.cluster.fake_api_server import FakeApiServer, serving
from tests.unit.cluster.leases import LeaseInMemory
from tests.unit.controllers.watching import Told, a_service, no_login, watching

EVENT = {"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "ml", "name": "e"}}


async def test_alone_it_writes_without_asking() -> None:
    cluster = InMemoryCluster()
    async with serving(FakeApiServer()) as connection:
        await Replica().writing(cluster, connection, ObjectCache(), History()).record(EVENT)
    assert len(cluster.writes) == 1


async def test_one_of_several_writes_only_while_it_leads() -> None:
    cluster, led = InMemoryCluster(), asyncio.Event()
    replica = Replica(election=Election(store=LeaseInMemory(answer_seconds=0), identity="one"))
    async with serving(FakeApiServer()) as connection:
        writing = replica.writing(cluster, connection, ObjectCache(), History())
        with pytest.raises(NotLeader):
            await writing.record(EVENT)

        async def work() -> None:
            await writing.record(EVENT)
            led.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(replica.lead(work, workers=1))
        await asyncio.wait_for(led.wait(), 5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        with pytest.raises(NotLeader):
            await writing.record({**EVENT, "metadata": {"namespace": "ml", "name": "late"}})
    assert len(cluster.writes) == 1


async def test_two_runs_of_one_pod_are_two_services() -> None:
    async with serving(FakeApiServer()) as connection:
        first, second = election_in("ns", connection), election_in("ns", connection)
        assert first is not None
        assert second is not None
        assert first.identity != second.identity
        assert election_in("", connection) is None


async def test_log_lines_of_a_pass_know_the_generation(caplog: pytest.LogCaptureFixture) -> None:
    cache, body = ObjectCache(), a_service("chat")
    cache.put({**body, "metadata": {**body["metadata"], "generation": 4}})

    async def reconcile(_: ServiceKey) -> float | None:
        logging.getLogger("llmservice").warning("looked")
        return None

    replica = Replica()
    assert await replica.watched(reconcile, cache)(("ml", "chat")) is None
    passes = {"controller": "llmservice", "result": "success"}
    assert replica.metrics.registry.get_sample_value("controller_runtime_reconcile_total", passes) == 1
    assert "looked" in caplog.text


async def test_metrics_show_the_resources_of_the_cache() -> None:
    cache = ObjectCache()
    settings = Settings(probe_port=free_port(), metrics_port=free_port(), metrics_auth="none")
    async with watching(Told(), login=no_login, served=never) as kopf:
        endpoints = Replica().endpoints(settings, cache, (), kopf, ServiceStates())
        async with endpoints, aiohttp.ClientSession() as session:
            cache.put(a_service("chat"))
            async with session.get(f"http://127.0.0.1:{settings.metrics_port}/metrics") as response:
                assert "llmservice_info{" in await response.text()
            async with session.get(f"http://127.0.0.1:{settings.probe_port}/readyz") as response:
                assert response.status == 503


async def test_without_ports_nothing_listens_and_nothing_is_kept_for_metrics() -> None:
    replica = Replica()
    before = [*replica.metrics.registry._collector_to_names]
    async with (
        watching(Told(), login=no_login, served=never) as kopf,
        replica.endpoints(Settings(), ObjectCache(), (), kopf, ServiceStates()),
    ):
        assert [*replica.metrics.registry._collector_to_names] == before


async def never() -> bool:
    return False
