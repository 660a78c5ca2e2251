"""Probes and figures: what is answered to whom, and that one never waits for the other."""

import asyncio
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from llmservice.cluster.reviews import Question
from llmservice.controllers.endpoints.health import Checks
from llmservice.controllers.endpoints.http_messages import as_json
from llmservice.controllers.endpoints.http_server import HttpServer
from llmservice.controllers.endpoints.routes import Figures, Probes, metrics_server, probe_server
from llmservice.controllers.endpoints.shared_page import SharedPage
from llmservice.errors import InvalidSetting
from llmservice.settings import Settings
from tests.unit.controllers.http_asking import a_request, ask

OPEN = Settings(metrics_auth="none")


def fine() -> str:
    return ""


def probes(
    alive: Checks | None = None, ready: Checks | None = None, remarks: Checks | None = None, port: int = 0
) -> HttpServer:
    return probe_server(port, Probes(alive=alive or {}, ready=ready or {}, remarks=remarks or {}))


def figures(registry: CollectorRegistry) -> HttpServer:
    return metrics_server(OPEN, registry, lambda namespace, name: (404, {"message": f"{namespace}/{name}"}))


async def test_green_when_every_check_is() -> None:
    async with probes(alive={"loop": fine, "kopf": fine}) as server:
        assert await ask(server, "/healthz") == (200, "[+]loop ok\n[+]kopf ok\n")


async def test_red_with_the_cause_when_one_check_is() -> None:
    checks = {"loop": fine, "kopf": lambda: "the thread of kopf has ended"}
    async with probes(alive=checks) as server:
        assert await ask(server, "/healthz") == (503, "[+]loop ok\n[-]kopf the thread of kopf has ended\n")


async def test_ready_and_alive_are_different_questions() -> None:
    async with probes(alive={"loop": fine}, ready={"llmservices": lambda: "no CRD"}) as server:
        assert (await ask(server, "/healthz"))[0] == 200
        assert (await ask(server, "/readyz"))[0] == 503


async def test_a_remark_stands_at_a_green_check_and_changes_no_verdict() -> None:
    remarks = {"Pod/a": fine, "Pod/b": lambda: "refused: pods is forbidden"}
    async with probes(alive={"Pod/b": fine}, ready={"Pod/a": fine, "Pod/b": fine}, remarks=remarks) as server:
        assert await ask(server, "/readyz") == (200, "[+]Pod/a ok\n[+]Pod/b refused: pods is forbidden\n")
        assert await ask(server, "/healthz") == (200, "[+]Pod/b ok\n")


async def test_metrics_are_those_of_the_registry_and_not_where_the_probes_are() -> None:
    registry = CollectorRegistry()
    Gauge("answer", "The answer.", registry=registry).set(42)
    async with figures(registry) as server, probes() as others:
        status, text = await ask(server, "/metrics")
        assert (await ask(others, "/metrics"))[0] == 404
        assert (await ask(server, "/healthz"))[0] == 404
    assert status == 200
    assert "answer 42.0\n" in text


class Held(Collector):
    """Metrics that are not done before `release` is set; `made` counts how often they were asked for."""

    def __init__(self) -> None:
        self.made = 0
        self.begun, self.release = threading.Event(), threading.Event()

    def collect(self) -> Iterator[Metric]:
        self.made += 1
        self.begun.set()
        assert self.release.wait(30)
        yield GaugeMetricFamily("held", "A figure.", value=1)


async def test_a_probe_is_answered_while_a_scrape_is_held() -> None:
    held, registry = Held(), CollectorRegistry(auto_describe=False)
    registry.register(held)
    async with figures(registry) as server, probes(alive={"loop": fine}) as others:
        scrape = asyncio.create_task(ask(server, "/metrics"))
        await asyncio.to_thread(held.begun.wait, 30)
        assert (await ask(others, "/healthz"))[0] == 200
        assert (await ask(server, "/explain/ml/chat"))[0] == 404
        assert not scrape.done()
        held.release.set()
        assert (await scrape)[0] == 200


async def test_metrics_are_made_once_for_all_who_ask_at_the_same_time() -> None:
    held, registry = Held(), CollectorRegistry(auto_describe=False)
    registry.register(held)
    async with figures(registry) as server:
        scrapes = [asyncio.create_task(ask(server, "/metrics")) for _ in range(60)]
        await asyncio.to_thread(held.begun.wait, 30)
        held.release.set()
        answers = {(await scrape) for scrape in scrapes}
    assert [status for status, _ in answers] == [200]
    assert held.made == 1


async def test_answers_while_the_loop_of_the_operator_hangs() -> None:
    """The questions come from a process of its own, because this loop is the one that hangs."""
    async with figures(CollectorRegistry()) as server, probes(alive={"loop": fine}) as others:
        urls = [f"http://127.0.0.1:{server.port}/metrics", f"http://127.0.0.1:{others.port}/healthz"]
        code = f"import urllib.request as u; [u.urlopen(url, timeout=5) for url in {urls}]"
        asker = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
        while asker.returncode is None:
            time.sleep(0.2)  # noqa: ASYNC251  (the point of this test)
            await asyncio.sleep(0)
    assert asker.returncode == 0


class Nobody:
    """A guard that lets nobody in, and keeps the questions."""

    def __init__(self) -> None:
        self.questions: list[str] = []

    async def refusal(self, request: web.BaseRequest, question: Question) -> web.Response | None:
        assert request.remote
        self.questions.append(question.words)
        return as_json(403, {"message": "no"})


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/metrics", "get the nonResourceURL /metrics"),
        ("/explain/ml/chat", "get llmservices.llmservice.dev chat in namespace ml"),
        ("/explain/ml/chat.v1-2", "get llmservices.llmservice.dev chat.v1-2 in namespace ml"),
    ],
)
async def test_who_may_not_learns_nothing(path: str, words: str) -> None:
    def never(*_: object) -> tuple[int, dict[str, object]]:
        raise AssertionError("told to somebody who may not hear it")

    guard = Nobody()
    handle = Figures(page=SharedPage(make=lambda: b""), explain=never, guard=guard)
    assert (await handle(a_request(path))).status == 403
    assert guard.questions == [words]


@pytest.mark.parametrize(
    "path", ["/", "/explain", "/explain/ml", "/explain/ml/chat/x", "/explain/ml/%2e%2e", "/explain/ml/" + 254 * "a"]
)
async def test_what_is_no_question_is_asked_of_nobody(path: str) -> None:
    guard = Nobody()
    handle = Figures(page=SharedPage(make=lambda: b""), explain=lambda *_: (200, {}), guard=guard)
    assert (await handle(a_request(path))).status == 404
    assert guard.questions == []


async def test_without_a_guard_only_this_machine_is_answered_and_by_plain_http() -> None:
    server = figures(CollectorRegistry())
    assert (server.host, server.certificate) == ("127.0.0.1", None)
    guarded = metrics_server(Settings(), CollectorRegistry(), lambda *_: (404, {}))
    assert guarded.host == ""
    assert guarded.certificate is not None


async def test_a_taken_port_is_named_with_the_way_out() -> None:
    async with probes() as first:
        with pytest.raises(InvalidSetting, match=r"LLMSERVICE_PROBE_PORT: \d+ cannot be taken .* choose another"):
            async with probes(port=first.port):
                pass


async def test_the_port_is_free_again_afterwards() -> None:
    async with probes() as first:
        port = first.port
    async with probes(port=port) as second:
        assert second.port == port
