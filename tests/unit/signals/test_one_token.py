"""Asking an engine for one token: an answer proves that it works, silence that it does not, all else nothing."""

import asyncio
import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from llmservice.signals.one_token import Answer, ask_for_token
from llmservice.signals.pod_session import pod_session
from tests.unit.signals.fake_engine import Answer as Reply
from tests.unit.signals.fake_engine import fake_engine, page

COMPLETION = json.dumps({"choices": [{"text": "b"}]})


async def asked(reply: Reply, seconds: float = 5.0) -> Answer:
    with fake_engine(reply) as engine:
        async with pod_session() as session:
            return await ask_for_token(session, "127.0.0.1", engine.port, "chat", pod_uid="u-1", seconds=seconds)


async def test_a_completion_of_one_token_of_this_model_is_asked_for() -> None:
    sent: list[tuple[str, dict[str, Any]]] = []

    def reply(request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        sent.append((request.path, json.loads(body)))
        page(COMPLETION)(request)

    assert await asked(reply) is Answer.SERVED
    ((path, body),) = sent
    assert path == "/v1/completions"
    assert (body["model"], body["max_tokens"]) == ("chat", 1)


async def test_no_answer_in_time_is_silence() -> None:
    def reply(_: BaseHTTPRequestHandler) -> None:
        time.sleep(0.5)

    assert await asked(reply, seconds=0.1) is Answer.SILENT


async def test_headers_without_an_answer_are_silence_too() -> None:
    def reply(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        time.sleep(0.5)

    assert await asked(reply, seconds=0.1) is Answer.SILENT


async def test_a_refusal_a_redirect_or_a_closed_port_tell_nothing() -> None:
    for status in (401, 404, 500, 307):
        assert await asked(page("no", status, Location="http://127.0.0.1:1/")) is Answer.UNTOLD
    async with pod_session() as session:
        assert await ask_for_token(session, "127.0.0.1", 1, "chat", pod_uid="u-1", seconds=5.0) is Answer.UNTOLD


async def test_an_answer_without_end_is_cut_off() -> None:
    def reply(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        while True:
            request.wfile.write(b"x" * 65_536)

    async with asyncio.timeout(5):
        assert await asked(reply) is Answer.SERVED
