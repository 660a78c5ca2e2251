"""The whole process on a fake API server: what keeps it from work, what does not, and what ends it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import pytest
from aiohttp import web

from llmservice.cluster.transport.connection import connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.controllers.application import _operate
from llmservice.controllers.catalogue_watch import CatalogueWatch
from llmservice.controllers.replica import Replica
from llmservice.controllers.wiring import wire
from llmservice.objects.references import Manifest
from llmservice.settings import Settings
from tests.builders import an_llmservice
from tests.unit.cluster.fake_api_server import a_list, a_status, a_watch, answer
from tests.unit.controllers.served import served
from tests.unit.controllers.watching import as_json, discovery
from tests.unit.until import until

SETTINGS = Settings(namespaces=("team-a", "team-b"), catalogue=("system", "our-gpus"), workers=1)


@dataclass
class Server:
    """An API server with an LLMService in each namespace. `refused` are namespaces, or kinds in one, nobody may see."""

    refused: set[str] = field(default_factory=set)
    catalogue: str = ""
    looked_at: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    watched: set[str] = field(default_factory=set)

    def serves(self, namespace: str) -> bool:
        """Whether the operator acted there, and kopf has its stream."""
        return namespace in self.looked_at and namespace in self.watched

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path = re.fullmatch(r".*/namespaces/(?P<namespace>[^/]+)/(?P<kind>[a-z]+)(/(?P<name>.+))?", request.path)
        if path is None:
            return await as_json(discovery)(request)
        namespace, kind = path["namespace"], path["kind"]
        if {namespace, f"{namespace}/{kind}"} & self.refused:
            message = f"{kind} is forbidden in {namespace}"
            return await as_json(answer(403, a_status(403, message, "Forbidden")))(request)
        if path["name"]:
            self.told |= {namespace} if path["name"] == "chat/status" else set()
            self.looked_at |= {namespace} if kind != "llmservices" else set()
            if path["kind"] == "llmservices" and request.method == "GET":
                return await as_json(answer(200, *self._items(namespace, kind)))(request)
            return await as_json(answer(404, a_status(404)))(request)
        if "watch" in request.query:
            self.watched |= {namespace} if kind == "llmservices" else set()
            return await as_json(a_watch())(request)
        return await as_json(a_list(5, *self._items(namespace, kind)))(request)

    def _items(self, namespace: str, kind: str) -> list[Manifest]:
        if kind == "llmservices":
            service = an_llmservice(metadata__namespace=namespace)
            return [{**service, "metadata": {**service["metadata"], "resourceVersion": "4"}}]
        if kind == "configmaps" and self.catalogue:
            metadata = {"namespace": namespace, "name": "our-gpus", "uid": "u", "resourceVersion": "4"}
            return [{"metadata": metadata, "data": {"engines.yaml": self.catalogue}}]
        return []


@asynccontextmanager
async def operating(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[asyncio.Task[None]]:
    """The operator at work on the server."""
    stop = asyncio.Event()
    async with served(server.handle, folder) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        async with asyncio.timeout(20), connect(await load_credentials()) as connection:
            task = asyncio.create_task(_operate(wire(SETTINGS, connection, Replica(), {}), SETTINGS, stop))
            try:
                yield task
            finally:
                stop.set()
                await asyncio.wait([task])


async def test_a_namespace_that_is_gone_keeps_nobody_from_being_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(refused={"team-b"})
    async with operating(server, tmp_path, monkeypatch) as task:
        await until(lambda: server.serves("team-a"))
    await task
    told = [record.getMessage() for record in caplog.records if "not served" in record.getMessage()]
    assert len(told) == 1
    assert "may not be listed: team-b; make the namespace and its RoleBinding again" in told[0]


async def test_nothing_is_made_in_a_namespace_before_all_of_it_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(refused={"team-b/deployments"})
    async with operating(server, tmp_path, monkeypatch) as task:
        await until(lambda: "team-b" in server.told)
        assert "team-b" not in server.looked_at
        server.refused.clear()
        await until(lambda: server.serves("team-b") and server.serves("team-a"))
    await task


@pytest.mark.parametrize("text", ["vllm: {versions: {2026-02-30: {}}}", "vllm: !!int abc"])
async def test_a_broken_catalogue_at_the_start_keeps_nobody_from_being_served(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(catalogue=text)
    async with operating(server, tmp_path, monkeypatch) as task:
        await until(lambda: server.serves("team-a"))
    await task
    assert "the last good catalogue stays until this is corrected" in caplog.text


async def test_a_part_that_ends_by_itself_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()

    async def broken(_: CatalogueWatch) -> NoReturn:
        await until(lambda: server.watched == {"team-a", "team-b"})
        raise RuntimeError("a defect")

    monkeypatch.setattr(CatalogueWatch, "run", broken)
    async with operating(server, tmp_path, monkeypatch) as task:
        await asyncio.wait([task])
    with pytest.raises(ExceptionGroup) as ended:
        await task
    assert ended.group_contains(RuntimeError, match="a defect")
