import asyncio
import sys
import time

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, Gauge

from llmservice.controllers.endpoints import Endpoints
from llmservice.controllers.health import Checks
from llmservice.errors import InvalidSpec


def fine() -> str:
    return ""


def an_endpoint(alive: Checks | None = None, ready: Checks | None = None, port: int = 0) -> Endpoints:
    return Endpoints(port=port, alive=alive or {}, ready=ready or {}, registry=CollectorRegistry())


async def ask(endpoints: Endpoints, path: str) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{endpoints.port}{path}") as response,
    ):
        return response.status, await response.text()


async def test_green_when_every_check_is() -> None:
    async with an_endpoint(alive={"loop": fine, "kopf": fine}) as endpoints:
        assert await ask(endpoints, "/healthz") == (200, "[+]loop ok\n[+]kopf ok\n")


async def test_red_with_the_cause_when_one_check_is() -> None:
    checks = {"loop": fine, "kopf": lambda: "the thread of kopf has ended"}
    async with an_endpoint(alive=checks) as endpoints:
        assert await ask(endpoints, "/healthz") == (503, "[+]loop ok\n[-]kopf the thread of kopf has ended\n")


async def test_ready_and_alive_are_different_questions() -> None:
    async with an_endpoint(alive={"loop": fine}, ready={"llmservices": lambda: "no CRD"}) as endpoints:
        assert (await ask(endpoints, "/healthz"))[0] == 200
        assert (await ask(endpoints, "/readyz"))[0] == 503


async def test_a_remark_stands_at_a_green_check_and_changes_no_verdict() -> None:
    endpoints = an_endpoint(alive={"Pod/b": fine}, ready={"Pod/a": fine, "Pod/b": fine})
    endpoints.remarks = {"Pod/a": fine, "Pod/b": lambda: "refused: pods is forbidden"}
    async with endpoints:
        assert await ask(endpoints, "/readyz") == (200, "[+]Pod/a ok\n[+]Pod/b refused: pods is forbidden\n")
        assert await ask(endpoints, "/healthz") == (200, "[+]Pod/b ok\n")


async def test_metrics_are_those_of_the_registry() -> None:
    endpoints = an_endpoint()
    Gauge("answer", "The answer.", registry=endpoints.registry).set(42)
    async with endpoints:
        status, text = await ask(endpoints, "/metrics")
    assert status == 200
    assert "answer 42.0\n" in text


async def test_answers_while_the_loop_of_the_operator_hangs() -> None:
    """The question comes from a process of its own, because this loop is the one that hangs."""
    async with an_endpoint(alive={"loop": lambda: "hangs"}) as endpoints:
        code = f"import urllib.request as u; u.urlopen('http://127.0.0.1:{endpoints.port}/metrics', timeout=5)"
        asker = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
        while asker.returncode is None:
            time.sleep(0.2)  # noqa: ASYNC251  (the point of this test)
            await asyncio.sleep(0)
    assert asker.returncode == 0


async def test_a_taken_port_is_named_with_the_way_out() -> None:
    async with an_endpoint() as first:
        with pytest.raises(InvalidSpec, match=r"LLMSERVICE_PORT: \d+ cannot be taken .* choose another"):
            async with an_endpoint(port=first.port):
                pass


async def test_the_port_is_free_again_afterwards() -> None:
    async with an_endpoint() as first:
        port = first.port
    async with an_endpoint(port=port) as second:
        assert second.port == port
