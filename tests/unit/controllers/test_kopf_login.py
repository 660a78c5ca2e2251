"""The session that kopf gets: as many streams as there are namespaces, and servers known by another name."""

import functools
import ssl
import subprocess
from pathlib import Path

import pytest

from llmservice.controllers.kopf_thread.login import is_served, log_in
from tests.unit.cluster.fake_api_server import FakeApiServer, a_list, a_status, a_watch, answer
from tests.unit.controllers.served import served
from tests.unit.controllers.watching import Told, as_json, discovery, watching
from tests.unit.until import until


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """For kube.internal, by itself, with its key beside it."""
    made, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    names = ("-subj", "/CN=kube.internal", "-addext", "subjectAltName=DNS:kube.internal")
    options = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    files = ("-keyout", str(key), "-out", str(made))
    subprocess.run(["openssl", "req", "-x509", *options, *names, *files], check=True, capture_output=True)  # noqa: S603, S607
    return made


def _context(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    return context


async def test_every_namespace_of_many_has_its_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    namespaces = tuple(f"team-{number}" for number in range(20))
    fake = FakeApiServer(calls=[as_json(discovery)], lists=[as_json(a_list(5))], watches=[as_json(a_watch())])
    async with served(fake.handle, tmp_path) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        async with watching(Told(), login=functools.partial(log_in, ""), namespaces=namespaces):
            await until(lambda: len(fake.watched_from()) == len(namespaces))
    paths = {request.path for request in fake.requests if "watch" in request.query}
    assert len(paths) == len(namespaces)


@pytest.mark.parametrize(("name", "known"), [("kube.internal", True), ("other.internal", False)])
async def test_a_server_is_known_by_the_name_the_kubeconfig_gives(
    name: str, known: bool, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = {"tls-server-name": name, "certificate-authority": str(certificate)}
    async with served(
        FakeApiServer(calls=[as_json(discovery)]).handle, tmp_path, _context(tmp_path), **cluster
    ) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        assert await is_served("") == known
        assert await _reaches_it() == known


async def test_a_list_that_is_refused_is_no_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = answer(403, a_status(403, "llmservices is forbidden", "Forbidden"))
    fake = FakeApiServer(calls=[as_json(discovery)], lists=[refusal] * 2 + [as_json(a_list(5))], watches=[a_watch()])
    told = Told()
    async with served(fake.handle, tmp_path) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        async with watching(told, login=functools.partial(log_in, ""), namespaces=("team-a",)):
            await until(fake.watched_from)
    assert (fake.listed(), told.lists) == (3, 1)


async def _reaches_it() -> bool:
    login = await log_in("")
    try:
        async with login.aiohttp_session.get(f"{login.server}/apis") as response:
            return response.status == 200
    except OSError:
        return False
    finally:
        await login.aiohttp_session.close()
