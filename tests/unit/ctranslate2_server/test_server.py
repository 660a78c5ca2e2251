"""The real server on the real library, over HTTP."""

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.unit.ctranslate2_server.conftest import Server, Start

LONG = 20_000
"""Tokens of an answer that takes many seconds."""


def body(tokens: int, **fields: Any) -> dict[str, Any]:
    return {"model": "chat", "prompt": "hello", "max_tokens": tokens, "ignore_eos": True, **fields}


@pytest.fixture
def server(start: Start, model: Path) -> Server:
    begun = start(model, "--served-model-name", "chat", "--max-num-seqs", "1", "--max-queued", "1")
    begun.wait_ready()
    return begun


async def events(response: aiohttp.ClientResponse) -> list[str]:
    return [
        line.decode().removeprefix("data: ").strip() async for line in response.content if line.startswith(b"data: ")
    ]


async def metric(session: aiohttp.ClientSession, url: str, name: str) -> float:
    async with session.get(f"{url}/metrics") as response:
        lines = (await response.text()).splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith((f"{name} ", f"{name}{{")))


async def until(session: aiohttp.ClientSession, url: str, name: str, value: float) -> None:
    async with asyncio.timeout(20):
        while await metric(session, url, name) != value:  # noqa: ASYNC110  (it is another process)
            await asyncio.sleep(0.02)


async def test_a_chat_whole_and_streamed_is_the_same_answer(server: Server) -> None:
    asked = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 12, "temperature": 0, "ignore_eos": True}
    url = f"{server.url}/v1/chat/completions"
    async with aiohttp.ClientSession() as session:
        async with session.post(url, json=asked) as response:
            whole = await response.json()
        streaming = asked | {"stream": True, "stream_options": {"include_usage": True}}
        async with session.post(url, json=streaming) as response:
            assert response.content_type == "text/event-stream"
            *chunks, done = await events(response)
        page = await (await session.get(f"{server.url}/metrics")).text()

    documents = [json.loads(chunk) for chunk in chunks]
    pieces = [choice["delta"].get("content", "") for chunk in documents for choice in chunk["choices"]]
    assert done == "[DONE]"
    assert "".join(pieces) == whole["choices"][0]["message"]["content"]
    assert documents[-2]["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"] == "length"
    assert documents[-1]["usage"] == whole["usage"]
    assert whole["usage"]["completion_tokens"] == 12
    assert 'ctranslate2_requests_finished_total{reason="length"} 2.0' in page


async def test_errors_name_the_field_and_the_status(server: Server) -> None:
    async with aiohttp.ClientSession() as session:

        async def refused(path: str, content: object) -> tuple[int, str]:
            async with session.post(f"{server.url}/v1/{path}", json=content) as response:
                return response.status, (await response.json())["error"]["param"]

        assert await refused("completions", body(0)) == (400, "max_tokens")
        assert await refused("completions", body(10**6)) == (400, "max_tokens")
        assert await refused("completions", body(1, prompt="x" * 40_000)) == (400, "prompt")
        assert await refused("completions", body(1, model="other")) == (404, "model")
        assert await refused("chat/completions", {"messages": 5}) == (400, "messages")
        large = io.BytesIO(b" " * 5_000_000)
        async with session.post(f"{server.url}/v1/completions", data=large) as response:
            assert response.status == 413


async def test_one_runs_one_waits_and_the_third_is_told_to_come_again(server: Server) -> None:
    url = f"{server.url}/v1/completions"
    async with aiohttp.ClientSession() as session:
        running = asyncio.create_task(session.post(url, json=body(LONG)).__aenter__())
        await until(session, server.url, "ctranslate2_requests_running", 1)
        waiting = asyncio.create_task(session.post(url, json=body(1)).__aenter__())
        await until(session, server.url, "ctranslate2_requests_waiting", 1)
        async with session.post(url, json=body(1)) as response:
            assert response.status == 429
            assert response.headers["Retry-After"]
        running.cancel()  # who hangs up makes room
        assert (await waiting).status == 200
        await until(session, server.url, "ctranslate2_requests_running", 0)
        assert await metric(session, server.url, 'ctranslate2_requests_finished_total{reason="cancelled"}') == 1
        assert await metric(session, server.url, 'ctranslate2_requests_rejected_total{status="429"}') == 1


async def test_a_stream_that_nobody_reads_any_more_ends(server: Server) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{server.url}/v1/completions", json=body(LONG, stream=True)) as response:
            await response.content.readline()
            response.close()
        await until(session, server.url, "ctranslate2_requests_running", 0)
        assert await metric(session, server.url, "ctranslate2_generated_tokens_total") < LONG


async def test_sigterm_lets_streams_end_and_takes_no_others(server: Server) -> None:
    asked = body(1500, stream=True)
    async with aiohttp.ClientSession() as session, session.post(f"{server.url}/v1/completions", json=asked) as response:
        await response.content.readline()
        server.terminate()
        await asyncio.sleep(0.3)
        with pytest.raises(aiohttp.ClientConnectorError):
            await session.get(f"{server.url}/health", headers={"Connection": "close"})
        *_, last, done = await events(response)

    assert json.loads(last)["choices"][0]["finish_reason"] == "length"
    assert done == "[DONE]"
    assert server.process.wait(20) == 0


def test_a_model_that_cannot_be_loaded_ends_the_process(start: Start, tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"nothing")
    server = start(tmp_path)

    assert server.process.wait(30) == 1
    assert "model.bin" in server.log.read_text()
