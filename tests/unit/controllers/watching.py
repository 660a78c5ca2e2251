"""A `KopfWatch` at work, with what it told."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import kopf
from aiohttp import web

from llmservice.controllers.kopf_thread.watch import KopfWatch
from tests.discovery import GROUP, discovery_answer
from tests.unit.cluster.fake_api_server import FakeApiServer, Scene, a_status, answer, serving


@dataclass
class Told:
    """What the application heard: names with a `-` before those deleted, and how often kopf listed."""

    names: list[str] = field(default_factory=list)
    lists: int = 0

    def observe(self, body: dict[str, Any], deleted: bool) -> None:
        self.names.append(("-" if deleted else "") + body["metadata"]["name"])

    def relisted(self) -> None:
        self.lists += 1


async def yes() -> bool:
    return True


async def no_login() -> kopf.AiohttpSession:
    raise AssertionError("nobody logs in here")


@asynccontextmanager
async def watching(
    told: Told,
    *,
    login: Callable[[], Awaitable[kopf.AiohttpSession]] = no_login,
    served: Callable[[], Awaitable[bool]] = yes,
    **settings: Any,
) -> AsyncIterator[KopfWatch]:
    """A watch that hardly pauses; a test never hangs with it."""
    watch = KopfWatch(
        observe=told.observe,
        relisted=told.relisted,
        login=login,
        served=served,
        first_pause_seconds=0.01,
        discovery_pause_seconds=0.01,
        look_seconds=0.05,
        **settings,
    )
    watch.start()
    try:
        async with asyncio.timeout(20):
            yield watch
    finally:
        await watch.stop()
    assert not watch.is_alive()


@asynccontextmanager
async def watching_fake_server(
    fake: FakeApiServer, told: Told, served: Callable[[], Awaitable[bool]] = yes
) -> AsyncIterator[KopfWatch]:
    """The real kopf on a fake API server."""
    fake.calls = [discovery]
    for script in (fake.calls, fake.lists, fake.watches):
        script[:] = map(as_json, script)
    async with serving(fake) as connection:

        async def login() -> kopf.AiohttpSession:
            return kopf.AiohttpSession(aiohttp_session=aiohttp.ClientSession(), server=connection.credentials.server)

        async with watching(told, login=login, served=served) as watch:
            yield watch


def as_json(scene: Scene) -> Scene:
    """The scene with the content type of an API server, on which kopf insists."""

    async def play(request: web.Request) -> web.StreamResponse:
        response = await scene(request)
        if isinstance(response, web.Response):
            response.content_type = "application/json"
        return response

    return play


async def discovery(request: web.Request) -> web.StreamResponse:
    """What kopf asks before it watches."""
    body = discovery_answer(request.path)
    return await (answer(200, body) if body else answer(404, a_status(404)))(request)


def a_service(name: str, version: int = 5) -> dict[str, Any]:
    metadata = {"namespace": "ml", "name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "LLMService", "metadata": metadata, "spec": {}}
