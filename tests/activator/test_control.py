"""The page that the operator reads, the probes, and how the process ends."""

import asyncio
from typing import Any

from aiohttp import web

from tests.activator.playing import HOST, Bench, Start, engine


async def page(bench: Bench, version: str = "", wait: int = 0) -> dict[str, Any]:
    url = f"http://{HOST}:{bench.activator.control_port}/held?version={version}&wait={wait}"
    async with bench.client.get(url) as answer:
        assert answer.status == 200
        told: dict[str, Any] = await answer.json()
        return told


async def status(bench: Bench, path: str) -> int:
    async with bench.client.get(f"http://{HOST}:{bench.activator.control_port}{path}") as answer:
        return answer.status


async def test_the_first_held_request_is_told_at_once(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    version = (await page(bench))["version"]
    waiting = asyncio.create_task(page(bench, version, wait=20))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    post = asyncio.create_task(bench.client.post(bench.url(port), data=b"x"))
    told = await asyncio.wait_for(waiting, 5)
    assert told["version"] != version
    assert told["ports"][str(port)] | {"oldestSeconds": 0} == {
        "held": 1,
        "oldestSeconds": 0,
        "answered": 0,
        "refused": 0,
    }
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        await post
    changed = await asyncio.wait_for(page(bench, told["version"], wait=20), 5)
    assert changed["ports"] == {str(port): {"held": 0, "oldestSeconds": 0.0, "answered": 1, "refused": 0}}


async def test_nothing_is_said_of_ports_where_nothing_was(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    assert (await bench.client.get(bench.url(port, "/v1/models"))).status == 200
    assert (await page(bench))["ports"] == {}


async def test_under_load_versions_come_seldom(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        before = bench.activator.hall.board._number
        for _ in range(50):
            assert (await bench.client.post(bench.url(port), data=b"x")).status == 200
        assert bench.activator.hall.board._number - before <= 10


async def test_the_page_answers_what_it_is_asked_and_nothing_else(start: Start) -> None:
    bench = await start()
    assert [await status(bench, path) for path in ("/healthz", "/readyz", "/held", "/", "/metrics")] == [
        *(200, 503, 200, 404, 404)
    ]
    bench.activator.control.ready = True
    assert await status(bench, "/readyz") == 200
    for query in ("wait=-1", "wait=x", "wait=10000", "wait=1.5", f"version={'v' * 65}"):
        assert await status(bench, f"/held?{query}") == 400
    async with bench.client.post(f"http://{HOST}:{bench.activator.control_port}/held") as answer:
        assert answer.status == 405


async def test_told_to_end_it_answers_what_it_has_and_then_ends(start: Start, port: int) -> None:
    bench = await start(grace_seconds=20.0, accepting_seconds=0.5)
    await bench.cluster.sleeping(port)
    bench.activator.control.ready = True
    held = [asyncio.create_task(bench.client.post(bench.url(port), data=b"x")) for _ in range(20)]
    await bench.held(20)
    ending = asyncio.create_task(bench.activator.drain())
    await asyncio.sleep(0.05)
    assert await status(bench, "/readyz") == 503
    late = asyncio.create_task(bench.client.post(bench.url(port), data=b"x"))
    await bench.held(21)  # kube-proxy may lead here for some seconds more
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        answers = await asyncio.gather(*held, late)
        assert {answer.status for answer in answers} == {200}
        assert {answer.headers.get("Connection") for answer in answers} == {"close"}
        await asyncio.wait_for(ending, 15)
    assert bench.activator.listeners.ports == frozenset()


async def test_at_the_end_of_the_grace_period_who_still_waits_is_told(start: Start, port: int) -> None:
    bench = await start(grace_seconds=5.5)
    await bench.cluster.sleeping(port)
    held = [asyncio.create_task(bench.client.post(bench.url(port), data=b"x")) for _ in range(5)]
    await bench.held(5)
    await asyncio.wait_for(bench.activator.drain(), 10)
    answers = [await task for task in held]
    assert {(answer.status, (await answer.json())["error"]["code"]) for answer in answers} == {(503, "shutting_down")}


async def test_an_answer_under_way_is_awaited(start: Start, port: int) -> None:
    bench = await start(grace_seconds=20.0, accepting_seconds=0.5)
    await bench.cluster.sleeping(port)
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_: web.BaseRequest) -> web.StreamResponse:
        arrived.set()
        await go_on.wait()
        return web.Response(text="whole")

    async with engine(slow) as chat:
        await bench.cluster.ready(chat.port)
        post = asyncio.create_task(bench.client.post(bench.url(port), data=b"x"))
        await asyncio.wait_for(arrived.wait(), 5)
        ending = asyncio.create_task(bench.activator.drain())
        asyncio.get_running_loop().call_later(0.8, go_on.set)
        assert await (await post).text() == "whole"
        await asyncio.wait_for(ending, 15)
