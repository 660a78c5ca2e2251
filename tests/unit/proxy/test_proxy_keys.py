"""The real HAProxy with keys from a folder, as the kubelet shows a Secret: who is served, and who learns of it."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from llmservice.engines.proxied import POD_UID_HEADER
from llmservice.signals.one_token import ask_for_token
from tests.unit.proxy.lab import POD_UID, Lab, a_lab, a_proxy, eventually, needs_haproxy

pytestmark = needs_haproxy

KEYS = {"team-a": "sk-alpha\n", "team-b": "# the old one, and the new one\nsk-beta-1\n  sk-beta-2  \n\n", "none": "\n"}


async def until(lab: Lab, key: str, done: Callable[[int], bool]) -> None:
    """Ask with this key until the status is as wanted."""

    async def is_done() -> bool:
        return done((await lab.ask(key))[0])

    await eventually(is_done)


@pytest.mark.parametrize(
    ("header", "key", "status"),
    [
        ("", "sk-alpha", 200),
        ("", "sk-beta-1", 200),
        ("", "sk-beta-2", 200),
        ("x-api-key", "sk-alpha", 200),
        ("Authorization", "bearer  sk-alpha ", 200),
        ("", "sk-alph", 401),
        ("", "sk-alphaa", 401),
        ("", "# the old one, and the new one", 401),
        ("", "#", 401),
        ("Authorization", "Basic c2stYWxwaGE=", 401),
        ("Authorization", "sk-alpha", 401),
        ("x-api-key", "Bearer sk-alpha", 401),
        ("api-key", "sk-alpha", 401),
    ],
)
async def test_a_request_needs_one_of_the_keys(header: str, key: str, status: int, tmp_path: Path) -> None:
    async with a_lab(a_proxy(keys=True), tmp_path, KEYS) as lab:
        lab.engine.let_go.set()
        assert (await lab.ask(key, header=header))[0] == status


async def test_a_refusal_is_an_error_as_clients_read_it(tmp_path: Path) -> None:
    async with a_lab(a_proxy(keys=True), tmp_path, KEYS) as lab:
        for key in ("", "sk-wrong"):
            status, text = await lab.ask(key)
            error = json.loads(text)["error"]
            assert (status, error["code"], error["type"]) == (401, "invalid_api_key", "invalid_request_error")
        assert lab.engine.headers == []
        page = (await lab.get(f"{lab.url}/proxy/metrics"))[1]
        assert 'haproxy_backend_http_responses_total{proxy="unauthorized",code="4xx"} 2' in page


async def test_probes_and_metrics_need_no_key_and_nothing_else_does_without(tmp_path: Path) -> None:
    async with a_lab(a_proxy(keys=True), tmp_path, KEYS) as lab:
        for path in ("/health", "/metrics", "/version", "/proxy/metrics"):
            assert (await lab.get(f"{lab.url}{path}"))[0] == 200, path
        for path in ("//metrics", "/metrics/", "/health/../v1/models", "/v1/models", "/", "/%6detrics"):
            assert await _status(lab, path) in {400, 401}, path
        async with lab.session.post(f"{lab.url}/metrics") as response:
            assert response.status == 401


async def _status(lab: Lab, path: str) -> int:
    """Of a request whose path is sent as it is written."""
    reader, writer = await asyncio.open_connection("127.0.0.1", lab.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n".encode())
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])


async def test_neither_engine_nor_log_is_shown_a_key(tmp_path: Path) -> None:
    async with a_lab(a_proxy(keys=True), tmp_path, KEYS) as lab:
        lab.engine.let_go.set()
        await lab.ask("sk-alpha")
        await lab.ask("sk-beta-1", header="x-api-key")
        await lab.ask("sk-wrong")
        assert {"authorization", "x-api-key"}.isdisjoint({name for each in lab.engine.headers for name in each})
        assert "sk-" not in lab.log.read_text()


async def test_a_log_line_names_the_client_of_a_request_that_failed(tmp_path: Path) -> None:
    async with a_lab(a_proxy(keys=True), tmp_path, KEYS) as lab:
        asked = asyncio.create_task(lab.ask("sk-alpha"))
        await eventually(lambda: lab.engine.running == 1)
        asked.cancel()
        await eventually(lambda: "client=team-a" in lab.log.read_text())


async def test_a_key_is_added_and_one_removed_while_fifty_requests_run(tmp_path: Path) -> None:
    async with a_lab(a_proxy(keys=True), tmp_path, KEYS) as lab:
        running = [asyncio.create_task(lab.ask("sk-alpha", chunks=40)) for _ in range(25)]
        staying = [asyncio.create_task(lab.ask("sk-beta-1", chunks=40)) for _ in range(25)]
        await eventually(lambda: lab.engine.running == 50)
        (lab.keys / "team-c").write_text("sk-gamma")
        (lab.keys / "team-a").unlink()
        lab.engine.let_go.set()
        await until(lab, "sk-gamma", lambda status: status == 200)
        await until(lab, "sk-alpha", lambda status: status == 401)
        answers = await asyncio.gather(*running, *staying)
        assert {status for status, _ in answers} == {200}
        assert all(text.endswith("data: [DONE]\n\n") for _, text in answers)


async def test_without_a_key_in_the_secret_nobody_is_served(tmp_path: Path) -> None:
    async with a_lab(a_proxy(keys=True), tmp_path) as lab:
        lab.engine.let_go.set()
        assert (await lab.ask("sk-alpha"))[0] == 401
        (lab.keys / "team-a").write_text("sk-alpha")
        await until(lab, "sk-alpha", lambda status: status == 200)


async def test_it_ends_with_its_shell_and_the_other_way_round(tmp_path: Path) -> None:
    """Else a list of keys would grow old while the proxy goes on."""
    async with a_lab(a_proxy(keys=True), tmp_path, KEYS) as lab:
        stream = asyncio.create_task(lab.ask("sk-alpha", chunks=20))
        await eventually(lambda: lab.engine.running == 1)
        lab.process.terminate()
        assert (await stream)[1].endswith("data: [DONE]\n\n")
        assert await asyncio.wait_for(lab.process.wait(), 10) == 0


async def test_the_operator_asks_for_a_token_without_a_key_and_nobody_asks_often(tmp_path: Path) -> None:
    async with a_lab(a_proxy(keys=True), tmp_path, KEYS) as lab:
        lab.engine.let_go.set()
        for uid in ("", "0b5c1f3e-0000-4000-8000-00000000000b"):
            assert await ask_for_token(lab.session, "127.0.0.1", lab.port, "chat", pod_uid=uid, seconds=5) == "Untold"
        answers = [
            await ask_for_token(lab.session, "127.0.0.1", lab.port, "chat", pod_uid=POD_UID, seconds=5)
            for _ in range(5)
        ]
        assert answers == ["Served", "Served", "Served", "Untold", "Untold"]
        assert POD_UID_HEADER not in lab.engine.headers[0]
        assert (await lab.ask("sk-alpha"))[0] == 200
