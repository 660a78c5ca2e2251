"""Requests for a service that sleeps: held, and answered in order by the first replica that is ready."""

import asyncio

from tests.activator.playing import Start, engine


async def test_two_hundred_held_requests_are_answered_in_the_order_they_came(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    tasks = []
    for number in range(200):
        tasks.append(asyncio.create_task(bench.client.post(bench.url(port, f"/v1/{number}"), data=b"x" * 1000)))
        await bench.held(number + 1)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        answers = await asyncio.gather(*tasks)
        assert [answer.status for answer in answers] == [200] * 200
        assert chat.seen == [f"/v1/{number}" for number in range(200)]
        assert [(await answer.json())["size"] for answer in answers] == [1000] * 200
        assert chat.most_at_once <= 16
    assert bench.activator.hall.held == 0
