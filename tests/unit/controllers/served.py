"""A server in place of the API server's, and the kubeconfig that leads to it."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def served(
    handle: Handle, folder: Path, tls: ssl.SSLContext | None = None, **cluster: Any
) -> AsyncIterator[Path]:
    """Answers every request by `handle`; the path of a kubeconfig in the folder, with more about the `cluster`."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    server = TestServer(application, scheme="https" if tls else "http", host="127.0.0.1")
    options: dict[str, Any] = {"ssl": tls} if tls else {}
    await server.start_server(shutdown_timeout=0.01, **options)
    try:
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(_kubeconfig({"server": str(server.make_url("/")), **cluster})))
        yield path
    finally:
        await server.close()


def _kubeconfig(cluster: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "x"}}],
    }
