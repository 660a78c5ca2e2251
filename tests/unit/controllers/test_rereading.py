"""When another history begins."""

import asyncio
from dataclasses import dataclass

import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.watching.history import History
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection
from llmservice.cluster.watching.one_history import OneHistory
from llmservice.controllers.rereading import Rereading, WithinHistory
from llmservice.errors import NotYet
from llmservice.reconcilers.workers import ServiceKey
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.unit.cluster.fake_api_server import FakeApiServer, Scene, a_list, a_status, answer, serving
from tests.unit.controllers.watching import a_service
from tests.unit.until import until


@dataclass
class Kopf:
    begun: int = 0

    def begin_anew(self) -> None:
        self.begun += 1


async def _reread(*lists: Scene, namespaces: tuple[str, ...] = ("",)) -> tuple[ObjectCache, History, Kopf]:
    cache, history, kopf = ObjectCache(), History(), Kopf()
    cache.put({**a_service("lost", 90), "kind": "LLMService"})
    async with serving(FakeApiServer(lists=list(lists))) as connection:
        informers = tuple(
            Informer(
                connection=connection,
                cache=cache,
                selection=Selection(kind="Pod", namespace=namespace),
                history=history,
            )
            for namespace in namespaces
        )
        rereading = Rereading(connection=connection, cache=cache, history=history, kopf=kopf, informers=informers)
        task = asyncio.create_task(rereading.run())
        await asyncio.sleep(0)
        epoch = history.went_back("Pod", 90, 9)
        for informer in informers:
            history.read(informer.selection.name, epoch)
        assert not history.is_settled(), "the LLMServices of this history are not known yet"
        await until(history.is_settled)
        task.cancel()
    return cache, history, kopf


async def test_llmservices_are_listed_again_and_kopf_begins_anew() -> None:
    cache, _, kopf = await _reread(a_list(9, a_service("chat", 8)))

    assert [body["metadata"]["name"] for body in cache.of_kind("LLMService")] == ["chat"]
    assert kopf.begun == 1


async def test_a_namespace_that_is_refused_holds_up_no_other() -> None:
    refusal = answer(403, a_status(403, "llmservices is forbidden", "Forbidden"))
    _, history, _ = await _reread(refusal, a_list(9), namespaces=("gone", "ml"))

    assert history.is_settled()


async def test_a_kind_that_is_not_served_yet_is_waited_for() -> None:
    """Right after its start an API server does not know its CRDs: what is not found is not refused."""
    cache, _, _ = await _reread(answer(404, a_status(404, "the server could not find it", "NotFound")), a_list(9))

    assert cache.of_kind("LLMService") == ()


async def test_what_was_decided_while_the_new_history_was_being_listed_is_never_written() -> None:
    """The cache tells of the old one until then, and the write waits for the lists."""
    history, live = History(members={"Pod"}), InMemoryCluster()
    cluster = OneHistory(live, ObjectCache(), history)
    epoch = history.went_back("Pod", 90, 9)

    async def decide_and_write(_: ServiceKey) -> None:
        asyncio.get_running_loop().call_soon(history.read, "Pod", epoch)
        metadata = {"namespace": "ml", "name": "chat"}
        intent = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "value"}}
        await cluster.apply_new(intent, manager="operator")

    within = WithinHistory(decide_and_write, history)
    with pytest.raises(NotYet, match="no longer so"):
        await within(("ml", "chat"))
    assert live.writes == []
    await within(("ml", "chat"))
    assert len(live.writes) == 1
