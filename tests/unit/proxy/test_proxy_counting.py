"""The real HAProxy before an engine that measures nothing: what it bounds, counts and lets through."""

import asyncio
import contextlib
import io
import signal
from pathlib import Path

import aiohttp
import pytest

from tests.unit.proxy.lab import a_lab, a_proxy, eventually, needs_haproxy, probe

pytestmark = needs_haproxy


async def test_so_many_run_and_the_others_wait_and_all_are_counted(tmp_path: Path) -> None:
    async with a_lab(a_proxy(running=2, queued=10), tmp_path) as lab:
        asked = [asyncio.create_task(lab.ask()) for _ in range(5)]
        await lab.until(running=2, waiting=3)
        await eventually(lambda: lab.engine.running == 2)
        lab.engine.let_go.set()
        assert await asyncio.gather(*asked) == [(200, "done")] * 5
        await lab.until(running=0)
        assert (await lab.reading())[2:] == (5.0, 0.0)


async def test_one_more_than_may_wait_is_told_to_come_again_and_counted_apart(tmp_path: Path) -> None:
    async with a_lab(a_proxy(running=1, queued=2), tmp_path) as lab:
        asked = [asyncio.create_task(lab.ask()) for _ in range(3)]
        await lab.until(running=1, waiting=2)
        async with lab.session.post(f"{lab.url}/v1/completions", json={}) as response:
            assert (response.status, response.headers["retry-after"]) == (503, "5")
            assert (await response.json())["error"]["code"] == "overloaded"
        lab.engine.let_go.set()
        assert {status for status, _ in await asyncio.gather(*asked)} == {200}
        assert (await lab.reading())[2:] == (3.0, 1.0)


async def test_a_client_that_leaves_frees_its_place(tmp_path: Path) -> None:
    """In the queue and in the engine, which is told at once."""
    async with a_lab(a_proxy(running=1, queued=10), tmp_path) as lab:
        asked = [asyncio.create_task(lab.ask()) for _ in range(3)]
        await lab.until(running=1, waiting=2)
        for each in asked:
            each.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await each
        await lab.until(running=0)
        await eventually(lambda: not lab.engine.running)
        assert lab.engine.aborted >= 1


async def test_probes_and_metrics_are_answered_while_all_places_are_taken(tmp_path: Path) -> None:
    async with a_lab(a_proxy(running=1, queued=10), tmp_path) as lab:
        asked = [asyncio.create_task(lab.ask()) for _ in range(4)]
        await lab.until(running=1, waiting=3)
        for url in (f"{lab.probes}/health", f"{lab.probes}/version", f"{lab.url}/health"):
            assert await lab.get(url) == (200, "ok")
        lab.engine.let_go.set()
        await asyncio.gather(*asked)


async def test_an_engine_is_healthy_when_its_answer_contains_what_is_expected(tmp_path: Path) -> None:
    plan = a_proxy(running=1, queued=10, health=probe("/api/ps", "it's loaded"))
    async with a_lab(plan, tmp_path) as lab:
        lab.engine.health = '{"models": []}'
        assert (await lab.get(f"{lab.probes}/api/ps"))[0] == 503
        assert (await lab.get(f"{lab.url}/health"))[0] == 503
        assert (await lab.get(f"{lab.probes}/version"))[0] == 200
        lab.engine.health = '{"models": ["it\'s loaded"]}'
        assert (await lab.get(f"{lab.probes}/api/ps"))[0] == 200
        assert (await lab.get(f"{lab.url}/health"))[0] == 200


async def test_the_first_part_of_a_stream_comes_before_the_last_is_made(tmp_path: Path) -> None:
    async with (
        a_lab(a_proxy(running=1, queued=1), tmp_path) as lab,
        lab.session.post(f"{lab.url}/v1/completions?chunks=40", json={}) as response,
    ):
        assert await response.content.readline() == b"data: 0\n"
        assert lab.engine.running == 1
        assert (await response.read()).endswith(b"data: [DONE]\n\n")


async def test_a_request_of_megabytes_is_passed_on(tmp_path: Path) -> None:
    async with a_lab(a_proxy(running=1, queued=1), tmp_path) as lab:
        lab.engine.let_go.set()
        async with lab.session.post(f"{lab.url}/v1/completions", data=io.BytesIO(b"x" * 2**24)) as response:
            assert response.status == 200


async def test_a_client_that_opens_a_thousand_connections_keeps_neither_probes_nor_others_waiting(
    tmp_path: Path,
) -> None:
    async with a_lab(a_proxy(running=1, queued=10, connections=1200), tmp_path) as lab:
        opened = [await asyncio.open_connection("127.0.0.1", lab.port) for _ in range(1000)]
        lab.engine.let_go.set()
        assert await lab.ask() == (200, "done")
        opened += [await asyncio.open_connection("127.0.0.1", lab.port) for _ in range(300)]
        assert await lab.get(f"{lab.probes}/health") == (200, "ok")
        for _, writer in opened:
            writer.close()


async def test_a_stop_finishes_a_stream_and_ends_connections_with_their_answers(tmp_path: Path) -> None:
    async with a_lab(a_proxy(running=2, queued=10), tmp_path) as lab:
        stream = asyncio.create_task(lab.ask(chunks=30))
        waiting = [asyncio.create_task(lab.ask()) for _ in range(3)]
        await lab.until(running=2, waiting=2)
        lab.process.send_signal(signal.SIGUSR1)
        await asyncio.sleep(0.3)
        with pytest.raises(aiohttp.ClientConnectorError):
            await lab.get(f"{lab.probes}/health")
        lab.engine.let_go.set()
        assert [status for status, _ in await asyncio.gather(*waiting)] == [200, 200, 200]
        assert (await stream)[1].endswith("data: [DONE]\n\n")
        assert await asyncio.wait_for(lab.process.wait(), 10) == 0
