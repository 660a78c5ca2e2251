"""The real HAProxy before an engine with paths that administrate it."""

from pathlib import Path

import pytest
from yarl import URL

from tests.unit.proxy.lab import a_lab, a_proxy, needs_haproxy

pytestmark = needs_haproxy

CLOSED = ("/v1/model/load", "/v1/comp")


@pytest.mark.parametrize(
    "path",
    [
        "/v1/completions",
        "/v1/comp%6Cetions",
        "/v1/%63ompletions?x=/v1/models",
        "/v1/completions/",
        "/v1/model/load",
        "/%76%31/model/load",
    ],
)
async def test_a_closed_path_does_not_reach_the_engine_however_it_is_spelled(path: str, tmp_path: Path) -> None:
    async with a_lab(a_proxy(running=1, queued=1, closed=CLOSED), tmp_path) as lab:
        lab.engine.let_go.set()
        for method in ("POST", "GET"):
            async with lab.session.request(method, URL(lab.url + path, encoded=True)) as response:
                assert (response.status, (await response.json())["error"]["type"]) == (404, "invalid_request_error")
        assert lab.engine.headers == []


async def test_the_others_reach_it(tmp_path: Path) -> None:
    async with a_lab(a_proxy(running=1, queued=1, closed=("/v1/model/load",)), tmp_path) as lab:
        lab.engine.let_go.set()
        assert (await lab.ask())[0] == 200
