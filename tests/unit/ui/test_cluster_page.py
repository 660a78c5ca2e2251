"""The page of a cluster: each caller sees what their own token may see, and nobody sees anything without one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.ui.fake_cluster import FakeCluster, a_service, fake_cluster
from tests.ui.shared_process import serving_all

Answer = tuple[int, Any, dict[str, str]]


class Served:
    """The page over a cluster with two people in it."""

    def __init__(self, address: str, cluster: FakeCluster, session: aiohttp.ClientSession) -> None:
        self.address, self.cluster, self.session = address, cluster, session

    async def get(self, path: str, token: str = "", **headers: str) -> Answer:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        given |= {"Authorization": f"Bearer {token}"} if token else {}
        async with self.session.get(f"{self.address}{path}", headers=given, ssl=False) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, await answer.json() if is_json else await answer.text(), dict(answer.headers)

    async def names(self, token: str, namespace: str = "") -> list[str]:
        _, data, _ = await self.get(f"api/services?namespace={namespace}", token)
        return [f"{row['namespace']}/{row['name']}" for row in data["rows"]]


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    cluster = FakeCluster(
        services=[a_service("chat"), a_service("secret", namespace="board")],
        rights={"anna": {"ml"}, "berta": {"", "ml", "board"}},
    )
    with fake_cluster(tmp_path, cluster) as kubeconfig, serving_all(kubeconfig) as address:
        async with aiohttp.ClientSession() as session:
            yield Served(address, cluster, session)


async def test_each_sees_what_their_token_may_see(served: Served) -> None:
    assert await served.names("berta") == ["board/secret", "ml/chat"]
    assert await served.names("anna", "ml") == ["ml/chat"]
    assert await served.names("anna", "board") == []
    status, data, _ = await served.get("api/services", "anna")
    assert (status, data["rows"], "all namespaces" in data["problem"]) == (200, [], True)
    assert (await served.get("api/services/ml/chat", "anna"))[0] == 200
    assert (await served.get("api/services/board/secret", "berta"))[0] == 200
    assert (await served.get("api/services/board/secret", "anna"))[0] == 403


async def test_nobody_is_asked_for_in_the_name_of_nobody(served: Served) -> None:
    for headers in ({}, {"Authorization": ""}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer a b"}):
        status, _, told = await served.get("api/services", **headers)
        assert (status, told["WWW-Authenticate"].startswith("Bearer")) == (401, True)
    assert served.cluster.tokens == set()


async def test_a_token_that_is_not_known_is_a_401_like_none(served: Served) -> None:
    without, unknown = await served.get("api/services"), await served.get("api/services", "eve")
    assert without[:2] == unknown[:2]


async def test_rights_that_end_end_what_is_shown(served: Served) -> None:
    assert await served.names("anna", "ml") == ["ml/chat"]
    served.cluster.rights = {"anna": set()}
    async with asyncio.timeout(20):
        while await served.names("anna", "ml"):  # noqa: ASYNC110  (it is the server that moves on)
            await asyncio.sleep(0.3)
    assert (await served.get("api/services/ml/chat", "anna"))[0] == 403


async def test_the_token_goes_to_the_api_server_as_it_came_and_to_no_other(served: Served) -> None:
    await served.get("api/services/ml/chat", "anna", Impersonate_User="berta", Cookie="a=b")
    assert served.cluster.tokens == {"anna"}
    assert not served.cluster.headers & {"impersonate-user", "cookie"}
    _, data, _ = await served.get("api/services/ml/chat", "anna")
    assert "llmservice explain chat -n ml" in data["explanation"]["problem"]
    assert not any("/proxy/" in path for path in served.cluster.asked)


@pytest.mark.parametrize("path", ["", "app.js", "api/services", "healthz", "nothing", "a/b/c"])
async def test_every_answer_keeps_others_from_framing_reading_or_storing_it(served: Served, path: str) -> None:
    _, _, headers = await served.get(path, "anna")
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers
    assert "Set-Cookie" not in headers


async def test_data_is_for_the_page_alone_and_the_page_may_be_come_to_by_a_link(served: Served) -> None:
    assert (await served.get("api/services", "anna", Sec_Fetch_Site="cross-site"))[0] == 403
    assert (await served.get("", Sec_Fetch_Site="cross-site"))[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "api/services/ml/..%2f..%2fsecrets",
        "api/services/ml%2f..%2fkube-system/chat",
        "api/services/@evil.example/chat",
        "api/services?namespace=ml/../kube-system",
        "../server.py",
        "api/services/ml/gone",
    ],
)
async def test_no_path_leads_elsewhere(served: Served, path: str) -> None:
    status, _, _ = await served.get(path, "berta")
    assert status == 404
    allowed = ("/llmservices", "/leases/", "/pods", "/events")
    assert all(any(part in asked for part in allowed) and ".." not in asked for asked in served.cluster.asked)


async def test_it_only_reads(served: Served) -> None:
    async with served.session.post(f"{served.address}api/services", ssl=False) as answer:
        assert answer.status == 405


async def test_a_probe_asks_nobody(served: Served) -> None:
    assert (await served.get("healthz"))[:2] == (200, "ok\n")
    assert served.cluster.asked == []
