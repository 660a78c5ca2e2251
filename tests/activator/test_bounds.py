"""More than is held, clients that leave, and services that share what there is."""

import asyncio
import socket
from collections import Counter
from http import HTTPStatus

import pytest
from aiohttp import web

from tests.activator.playing import HOST, Bench, Start, engine


async def post(bench: Bench, port: int, size: int = 1) -> tuple[int, str, str]:
    """Status, code of the error and Retry-After of one request."""
    async with bench.client.post(bench.url(port), data=b"x" * size) as answer:
        body = await answer.json()
        return answer.status, body.get("error", {}).get("code", ""), answer.headers.get("Retry-After", "")


async def test_of_two_thousand_requests_those_within_the_bound_are_answered_and_the_rest_refused(
    start: Start, port: int
) -> None:
    bench = await start(held_each=500)
    await bench.cluster.sleeping(port, startSeconds=41.2)
    tasks = [asyncio.create_task(post(bench, port)) for _ in range(2000)]
    refused = await first(tasks, 1500)
    assert Counter(refused) == {(HTTPStatus.SERVICE_UNAVAILABLE, "held_too_many", "42"): 1500}
    await bench.held(500)  # who is let in comes after all who are not
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        outcomes = Counter(outcome[:2] for outcome in await asyncio.gather(*tasks))
    assert outcomes == {(200, ""): 500, (503, "held_too_many"): 1500}
    assert len(chat.seen) == 500


async def test_who_is_turned_away_reads_why_however_much_it_sends(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, maxHeld=1)
    held = asyncio.create_task(post(bench, port))
    await bench.held(1)
    assert (await post(bench, port, size=300_000))[1] == "held_too_many"
    held.cancel()


async def test_the_resource_has_the_word_on_its_own_bounds(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, maxHeld=2, maxWaitSeconds=0.5)
    outcomes = await asyncio.gather(*(post(bench, port) for _ in range(3)))
    assert sorted(code for _, code, _ in outcomes) == ["held_too_long", "held_too_long", "held_too_many"]
    assert bench.activator.hall.held == 0


async def test_who_waits_for_a_start_that_is_hopeless_is_told_at_once_and_so_is_who_comes_later(
    start: Start, port: int
) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    held = [asyncio.create_task(post(bench, port)) for _ in range(3)]
    await bench.held(3)
    await bench.cluster.sleeping(port, trouble="ImagePullFailed")
    assert bench.activator.hall.held == 3, "time may help"
    await bench.cluster.sleeping(port, trouble="WrongArgument", hopeless=True)
    assert {code for _, code, _ in await asyncio.gather(*held)} == {"start_failed"}
    async with bench.client.post(bench.url(port), data=b"x") as answer:
        error = (await answer.json())["error"]
        assert (answer.status, error["code"], "Retry-After" in answer.headers) == (503, "start_failed", True)
        assert "WrongArgument" in error["message"]
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        assert (await post(bench, port))[0] == 200


async def test_who_has_waited_too_long_is_told_what_is_known_of_the_start(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, maxWaitSeconds=0.2, trouble="ImagePullFailed")
    async with bench.client.post(bench.url(port), data=b"x") as answer:
        error = (await answer.json())["error"]
    assert error["code"] == "held_too_long"
    assert "ImagePullFailed" in error["message"]


async def test_a_service_that_floods_takes_no_place_from_another(start: Start, port: int) -> None:
    bench = await start(held=100, held_each=100)
    await bench.cluster.sleeping(port, "flood", uid="1")
    await bench.cluster.sleeping(port + 1, "quiet", uid="2")
    flood = [asyncio.create_task(post(bench, port)) for _ in range(100)]
    await bench.held(100)
    quiet = [asyncio.create_task(post(bench, port + 1)) for _ in range(50)]
    gave_way = await first(flood, 50)
    assert Counter(code for _, code, _ in gave_way) == {"activator_full": 50}
    assert (await post(bench, port + 1))[1] == "activator_full"  # both have half now
    assert (await post(bench, port))[1] == "activator_full"
    async with engine() as chat:
        await bench.cluster.ready(chat.port, name="quiet")
        assert {status for status, _, _ in await asyncio.gather(*quiet)} == {200}
        await bench.cluster.ready(chat.port, name="flood")
        assert Counter(status for status, _, _ in await asyncio.gather(*flood)) == {200: 50, 503: 50}


async def first(tasks: list[asyncio.Task[tuple[int, str, str]]], number: int) -> list[tuple[int, str, str]]:
    """The first outcomes, at least so many."""
    async with asyncio.timeout(20):
        while sum(task.done() for task in tasks) < number:
            await asyncio.wait([task for task in tasks if not task.done()], return_when=asyncio.FIRST_COMPLETED)
    return [task.result() for task in tasks if task.done()]


async def test_bytes_are_shared_like_places(start: Start, port: int) -> None:
    bench = await start(held_bytes=9 * 62_000)
    await bench.cluster.sleeping(port, "flood", uid="1")
    await bench.cluster.sleeping(port + 1, "quiet", uid="2")
    flood = [asyncio.create_task(post(bench, port, 60_000)) for _ in range(9)]
    await bench.held(9)
    assert (await post(bench, port, 60_000))[1] == "activator_full"
    quiet = asyncio.create_task(post(bench, port + 1, 60_000))
    assert [code for _, code, _ in await first(flood, 1)] == ["activator_full"]
    await bench.held(9)
    for task in (*flood, quiet):
        task.cancel()
    await bench.held(0)


async def test_a_client_that_goes_gives_its_place_up_at_once(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, maxHeld=1)
    leaving = asyncio.create_task(bench.client.post(bench.url(port), data=b"x"))
    await bench.held(1)
    leaving.cancel()
    await bench.held(0)
    staying = asyncio.create_task(post(bench, port))
    await bench.held(1)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        assert (await staying)[0] == 200
        assert len(chat.seen) == 1


async def test_a_client_that_goes_while_nobody_reads_its_body_is_missed(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 70_000)
    await bench.held(1)
    await writer.drain()
    await asyncio.sleep(0.2)
    writer.close()
    await bench.held(0)
    assert await reader.read() == b""


async def test_a_client_that_goes_while_it_is_answered_frees_its_replica(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, concurrency=1)
    arrived, ended = asyncio.Event(), asyncio.Event()

    async def endless(_: web.BaseRequest) -> web.StreamResponse:
        arrived.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return web.Response()

    async with engine(endless) as chat:
        await bench.cluster.ready(chat.port)
        leaving = asyncio.create_task(bench.client.post(bench.url(port), data=b"x"))
        await asyncio.wait_for(arrived.wait(), 5)
        leaving.cancel()
        await asyncio.wait_for(ended.wait(), 5)  # the engine is told, too
        await asyncio.wait_for(bench.activator.hall.emptied(5), 6)
        assert bench.activator.hall.sent == 0


async def test_what_could_not_reach_a_replica_waits_again_before_all_others(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, concurrency=2)
    tasks = []
    for number in range(6):
        tasks.append(asyncio.create_task(bench.client.post(bench.url(port, f"/v1/{number}"), data=b"x")))
        await bench.held(number + 1)
    await bench.cluster.ready(9)  # nobody listens there
    await asyncio.sleep(0.1)
    assert bench.activator.hall.held == 6
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        assert {answer.status for answer in await asyncio.gather(*tasks)} == {200}
        assert sorted(chat.seen[:2]) == ["/v1/0", "/v1/1"]


async def test_a_replica_that_dies_without_an_answer_is_told_as_one(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)

    async def dying(request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with engine(dying) as chat:
        await bench.cluster.ready(chat.port)
        assert (await post(bench, port))[:2] == (HTTPStatus.BAD_GATEWAY, "replica_failed")


async def test_the_least_busy_replica_is_taken_and_none_gets_more_than_it_bears(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, concurrency=3)
    tasks = [asyncio.create_task(post(bench, port)) for _ in range(60)]
    await bench.held(60)

    async def slow(_: web.BaseRequest) -> web.StreamResponse:
        await asyncio.sleep(0.02)
        return web.json_response({})

    async with engine(slow) as one, engine(slow) as two:
        await bench.cluster.ready(one.port, two.port)
        assert {status for status, _, _ in await asyncio.gather(*tasks)} == {200}
        assert (one.most_at_once, two.most_at_once) == (3, 3)
        assert min(len(one.seen), len(two.seen)) > 20


async def test_one_port_named_twice_is_the_older_slices(
    start: Start, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, "younger", uid="2")
    await bench.cluster.sleeping(port, "older", uid="1")
    async with bench.client.get(bench.url(port, "/v1/models")) as answer:
        assert [each["id"] for each in (await answer.json())["data"]] == ["older"]
    told = [record for record in caplog.records if "default/younger" in record.getMessage()]
    assert [record.levelname for record in told if record.levelname == "ERROR"] == ["ERROR"]


async def test_idle_connections_of_one_port_give_way_to_another(start: Start, port: int) -> None:
    bench = await start(held=20)  # and twice as many connections
    await bench.cluster.sleeping(port, "flood", uid="1")
    await bench.cluster.sleeping(port + 1, "quiet", uid="2")
    flood = [await asyncio.open_connection(HOST, port) for _ in range(40)]
    assert (await bench.client.get(bench.url(port + 1, "/health"))).status == 200
    assert await asyncio.wait_for(_ended(flood[0][0]), 5)
    for _, writer in flood:
        writer.close()


async def _ended(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionResetError:
        return True


async def test_a_service_that_goes_while_a_replica_is_being_reached_leaves_nobody_waiting(
    start: Start, port: int
) -> None:
    bench = await start(connect_seconds=0.5)
    await bench.cluster.sleeping(port)
    post_ = asyncio.create_task(post(bench, port))
    await bench.held(1)
    with socket.create_server((HOST, 0), backlog=0) as full:
        filling = [socket.socket() for _ in range(4)]
        for each in filling:
            each.settimeout(0)
            each.connect_ex(full.getsockname())
        await bench.cluster.ready(full.getsockname()[1])
        await bench.cluster.gone()
        assert (await asyncio.wait_for(post_, 10))[:2] == (HTTPStatus.SERVICE_UNAVAILABLE, "asleep")
        for each in filling:
            each.close()
    assert bench.activator.hall.held == 0
