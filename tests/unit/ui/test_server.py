"""Who gets in: the browser that was given the address, and nobody else."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from llmservice.cli.service_state import state_of
from llmservice.cluster.transport.connection import connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.ui.reading import Reader
from llmservice.ui.server import Page
from tests.ui.fake_cluster import FakeCluster, a_service, fake_cluster


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    cluster = FakeCluster(services=[a_service("chat")])
    with fake_cluster(tmp_path, cluster) as kubeconfig:
        async with connect(await load_credentials(kubeconfig=str(kubeconfig))) as connection:
            reader = Reader(connection=connection, namespace="ml", operator_namespace="ops", state_of=state_of)
            async with Page(reader=reader).serving() as page:
                yield page


async def got(page: Page, path: str = "", **headers: str) -> tuple[int, str, dict[str, str]]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(
            f"{page.address}{path}", headers={name.replace("_", "-"): value for name, value in headers.items()}
        ) as answer,
    ):
        return answer.status, await answer.text(), dict(answer.headers)


async def test_the_page_and_its_data(page: Page) -> None:
    status, text, headers = await got(page)
    assert (status, "<main" in text) == (200, True)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    status, text, _ = await got(page, "api/services")
    assert (status, '"chat"' in text) == (200, True)
    status, text, _ = await got(page, "api/services/ml/chat")
    assert (status, "0.32.0" in text) == (200, True)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example:80"])
async def test_a_name_that_was_bent_to_loopback_is_refused(page: Page, host: str) -> None:
    status, _, _ = await got(page, "api/services", Host=host)
    assert status == 403


async def test_another_site_is_refused(page: Page) -> None:
    status, _, headers = await got(page, "api/services", Sec_Fetch_Site="cross-site")
    assert status == 403
    assert "Access-Control-Allow-Origin" not in headers


async def test_without_the_token_there_is_nothing(page: Page) -> None:
    root = f"http://127.0.0.1:{page.port}"
    async with aiohttp.ClientSession() as session:
        for path in ("/", "/wrong/", "/wrong/api/services", f"/{page.token}x/api/services", f"//{page.token}/"):
            async with session.get(root + path) as answer:
                assert answer.status == 404, path


@pytest.mark.parametrize(
    "path", ["../server.py", "api/services/ml/gone", "api/services/ml/..%2f..%2fsecrets", "nothing.js"]
)
async def test_what_is_not_there_is_not_found(page: Page, path: str) -> None:
    status, _, _ = await got(page, path)
    assert status == 404


async def test_it_only_reads(page: Page) -> None:
    async with aiohttp.ClientSession() as session, session.post(f"{page.address}api/services") as answer:
        assert answer.status == 405
