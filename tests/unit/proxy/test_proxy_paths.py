"""The real HAProxy before an engine that lets everybody do more than ask: what is not for clients never reaches it."""

from pathlib import Path

import pytest
from yarl import URL

from tests.unit.proxy.lab import a_lab, a_proxy, needs_haproxy

pytestmark = needs_haproxy

FOR_CLIENTS = ("/api/chat", "/v1/*")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/pull",
        "/api/chat/x",
        "/api/chats",
        "/v1",
        "//v1/completions",
        "/api/%70ull",
        "/debug/pprof/",
        "/x/v1/",
    ],
)
async def test_what_is_not_for_clients_is_refused_by_the_proxy(path: str, tmp_path: Path) -> None:
    async with a_lab(a_proxy(running=2, queued=10, client_paths=FOR_CLIENTS), tmp_path) as lab:
        async with lab.session.post(URL(f"{lab.url}{path}", encoded=True), json={}) as response:
            assert response.status == 403
            assert (await response.json())["error"]["type"] == "invalid_request_error"
        assert (lab.engine.headers, (await lab.reading())[2]) == ([], 0.0)


async def test_what_is_for_clients_and_for_the_operator_is_not(tmp_path: Path) -> None:
    async with a_lab(a_proxy(running=2, queued=10, client_paths=FOR_CLIENTS), tmp_path) as lab:
        lab.engine.let_go.set()
        assert await lab.ask() == (200, "done")
        for url in (f"{lab.url}/health", f"{lab.probes}/version"):
            assert await lab.get(url) == (200, "ok")
        async with lab.session.post(f"{lab.url}/api/chat", json={}) as response:
            assert response.status == 404, "the engine's own answer"


async def test_a_key_is_asked_for_before_anything_is_told_of_paths(tmp_path: Path) -> None:
    plan = a_proxy(running=2, queued=10, client_paths=FOR_CLIENTS, keys=True)
    async with a_lab(plan, tmp_path, {"alice": "a-key-of-alice"}) as lab:
        async with lab.session.post(f"{lab.url}/api/pull", json={}) as response:
            assert response.status == 401
        headers = {"Authorization": "Bearer a-key-of-alice"}
        async with lab.session.post(f"{lab.url}/api/pull", json={}, headers=headers) as response:
            assert response.status == 403
