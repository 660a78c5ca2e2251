"""The session that kopf gets: as many streams as there are namespaces, and servers known by another name."""

import base64
import functools
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer

from llmservice.controllers.kopf_login import is_served, log_in
from tests.unit.cluster.fake_api_server import FakeApiServer, a_list, a_watch
from tests.unit.controllers.watching import Told, as_json, discovery, until, watching

CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBbjCCAROgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1rdWJlLmlu
dGVybmFsMCAXDTI0MDEwMTAwMDAwMFoYDzIxMjQwMTAxMDAwMDAwWjAYMRYwFAYD
VQQDDA1rdWJlLmludGVybmFsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJ6+m
tA0feyrIOjw0zrNoY4m5wAYgJ+HXLrjKFljNzVsondxb/ofMCY+C5zsMe0R00TL7
elEgGWnLgzWW5XFOOKNMMEowGAYDVR0RBBEwD4INa3ViZS5pbnRlcm5hbDAPBgNV
HRMBAf8EBTADAQH/MB0GA1UdDgQWBBQb9cZ8PqppVvqDp7dDE8M3h7q7hjAKBggq
hkjOPQQDAgNJADBGAiEAzrY8XocK0basCTPa5+SIfHDL2Xk/UJfh8z5a+NgHheQC
IQDAXlQQ6oZ6oecGCkTKGwh03pO3KAmsYXiMufoyjlMvrw==
-----END CERTIFICATE-----
"""
"""For kube.internal, by itself; valid for a hundred years."""

KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgoCXJGQrzuJ+MwF3w
L1t7TMZ1ikxKDxBLSaJ66r8BUIihRANCAAQnr6a0DR97Ksg6PDTOs2hjibnABiAn
4dcuuMoWWM3NWyid3Fv+h8wJj4LnOwx7RHTRMvt6USAZacuDNZblcU44
-----END PRIVATE KEY-----
"""
"""Of that certificate: it protects nothing."""


@asynccontextmanager
async def a_server(fake: FakeApiServer, folder: Path, *, tls: bool = False, **cluster: Any) -> AsyncIterator[Path]:
    """The fake server with a kubeconfig for it."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", fake.handle)
    server = TestServer(application, scheme="https" if tls else "http", host="127.0.0.1")
    options: dict[str, Any] = {"ssl": _context(folder)} if tls else {}
    await server.start_server(shutdown_timeout=0.01, **options)
    try:
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(_kubeconfig({"server": str(server.make_url("/")), **cluster})))
        yield path
    finally:
        await server.close()


def _context(folder: Path) -> ssl.SSLContext:
    (folder / "tls").write_text(CERTIFICATE + KEY)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls")
    return context


def _kubeconfig(cluster: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "x"}}],
    }


async def test_every_namespace_of_many_has_its_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    namespaces = tuple(f"team-{number}" for number in range(20))
    fake = FakeApiServer(calls=[as_json(discovery)], lists=[as_json(a_list(5))], watches=[as_json(a_watch())])
    async with a_server(fake, tmp_path) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        async with watching(Told(), login=functools.partial(log_in, ""), namespaces=namespaces):
            await until(lambda: len(fake.watched_from()) == len(namespaces))
    paths = {request.path for request in fake.requests if "watch" in request.query}
    assert len(paths) == len(namespaces)


@pytest.mark.parametrize(("name", "known"), [("kube.internal", True), ("other.internal", False)])
async def test_a_server_is_known_by_the_name_the_kubeconfig_gives(
    name: str, known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = base64.b64encode(CERTIFICATE.encode()).decode()
    cluster = {"tls-server-name": name, "certificate-authority-data": trusted}
    async with a_server(FakeApiServer(calls=[as_json(discovery)]), tmp_path, tls=True, **cluster) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        assert await is_served("") == known
        assert await _reaches_it() == known


async def _reaches_it() -> bool:
    login = await log_in("")
    try:
        async with login.aiohttp_session.get(f"{login.server}/apis") as response:
            return response.status == 200
    except OSError:
        return False
    finally:
        await login.aiohttp_session.close()
