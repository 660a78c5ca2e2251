"""One service's desk: who waits again after a replica could not be reached, and who may not."""

import asyncio

import pytest

from llmservice.activator.desk import Desk, Stay
from llmservice.activator.refusals import Code, Refusal
from llmservice.activator.slices import Activation, Replica, Served

AWAY, THERE = Replica("10.0.0.1", 8000), Replica("10.0.0.2", 8000)


def served(*replicas: Replica, concurrency: int = 1) -> Served:
    return Served(
        namespace="default",
        name="chat",
        uid="1",
        since="",
        port=20_001,
        in_path=True,
        activation=Activation(concurrency=concurrency),
        replicas=replicas,
    )


def with_waiting(number: int) -> tuple[Desk, list[Stay]]:
    """A desk where so many wait, in order."""
    desk, loop = Desk(served()), asyncio.get_running_loop()
    stays = [Stay(desk, float(since), loop.create_future()) for since in range(number)]
    for stay in stays:
        desk.join(stay)
    return desk, stays


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_those_who_wait_again_keep_their_order_and_come_before_all_others(order: tuple[int, ...]) -> None:
    desk, stays = with_waiting(5)
    desk.use(served(AWAY, concurrency=3))
    assert [stay.turn.done() for stay in stays] == [True, True, True, False, False]
    for number in order:
        desk.again(stays[number])
    assert list(desk.line.waiting) == stays
    desk.use(served(THERE))
    assert [stay.replica for stay in stays] == [THERE, None, None, None, None]


async def test_who_would_wait_again_where_nobody_may_is_refused() -> None:
    desk, (stay,) = with_waiting(1)
    desk.use(served(AWAY))
    desk.close(Code.SHUTTING_DOWN, "the process ends")
    assert await stay.turn == AWAY
    desk.again(stay)
    with pytest.raises(Refusal) as error:
        await stay.turn
    assert error.value.code == Code.SHUTTING_DOWN
    assert desk.refused == 1
    assert len(desk.line) == 0
