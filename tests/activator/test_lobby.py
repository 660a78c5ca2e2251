"""Connections before their first request: floods, silence, and those who are told to go."""

import asyncio
import select
import socket

from tests.activator.playing import HOST, Start, engine

POST = b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nContent-Length: 0\r\n\r\n"
HEALTH = b"GET /health HTTP/1.1\r\nHost: chat\r\n\r\n"


def saying(port: int, said: bytes, number: int = 1) -> list[socket.socket]:
    """So many connections that the activator has not accepted yet, on each of which this was said."""
    made = [socket.create_connection((HOST, port)) for _ in range(number)]
    for each in made:
        each.sendall(said)
        each.settimeout(0)
    return made


def answered(connections: list[socket.socket]) -> int:
    """How many of these have something to read."""
    poll = select.poll()
    for each in connections:
        poll.register(each, select.POLLIN)
    return len(poll.poll(0))


async def heard(connection: socket.socket) -> bytes:
    return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(connection, 4096), 10)


def closed(*connections: socket.socket) -> None:
    for each in connections:
        each.close()


async def test_a_flood_at_one_port_delays_nobody_at_another(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, "flood", uid="1")
    await bench.cluster.sleeping(port + 1, "quiet", uid="2")
    flood, (quiet,) = saying(port, HEALTH, 400), saying(port + 1, HEALTH)
    assert b" 200 OK" in await heard(quiet)
    assert answered(flood) < 200
    closed(*flood, quiet)


async def test_who_comes_to_a_full_line_is_told_before_those_who_came_first_are_let_in(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, maxHeld=100)
    connections = saying(port, POST, 250)
    assert b" 503 " in await heard(connections[-1])
    assert bench.activator.hall.held < 100
    await bench.held(100)
    assert answered(connections[:100]) == 0
    assert answered(connections[100:249]) == 149
    closed(*connections)


async def test_silence_costs_a_socket_and_ends_by_itself(start: Start, port: int) -> None:
    bench = await start(idle_seconds=1.0)
    await bench.cluster.sleeping(port)
    (silent,) = saying(port, b"")
    tasks = len(asyncio.all_tasks())
    while not len(bench.activator.listeners.connections):  # noqa: ASYNC110  (what counts is not told)
        await asyncio.sleep(0.01)
    assert len(asyncio.all_tasks()) == tasks
    assert await heard(silent) == b""
    assert len(bench.activator.listeners.connections) == 0
    closed(silent)


async def test_one_who_says_nothing_for_a_while_is_served_then(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    (slow,) = saying(port, b"")
    await asyncio.sleep(0.2)
    slow.sendall(POST)
    await bench.held(1)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        assert b" 200 OK" in await heard(slow)
    closed(slow)


async def test_one_who_was_told_to_go_and_stays_is_hung_up_on(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, maxHeld=1)
    first, told = saying(port, POST, 2)
    assert b" 503 " in await heard(told)
    assert await heard(told) == b""
    async with asyncio.timeout(5):
        while len(bench.activator.listeners.connections) > 1:  # noqa: ASYNC110  (what counts is not told)
            await asyncio.sleep(0.05)
    closed(first, told)


async def test_a_port_that_closes_hangs_up_on_those_who_said_nothing(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    (silent,) = saying(port, b"")
    await asyncio.sleep(0.1)
    await bench.cluster.gone()
    assert await heard(silent) == b""
    closed(silent)
