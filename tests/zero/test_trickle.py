"""Services that sleep and wake again and again, and requests that come at any moment of it: none may fail."""

import asyncio
import random
import time
from collections.abc import Sequence

import aiohttp
import pytest

from tests.cluster.kube import Kube
from tests.cluster.services import address_of
from tests.zero.clients import Outcome, ask, told
from tests.zero.service import SHORTEST_IDLE_SECONDS, a_sleeper, starts

pytestmark = [pytest.mark.zero, pytest.mark.sandbox]

SERVICES, WAKES = 4, 20
LONGEST_SECONDS = 1200.0


@pytest.mark.usefixtures("models")
def test_twenty_times_to_zero_and_back_without_a_failure(kube: Kube) -> None:
    names = [f"chat-{number}" for number in range(SERVICES)]
    for name in names:
        kube.create(a_sleeper(name))
    for name in names:
        kube.wait_ready(name)
    outcomes = asyncio.run(_trickle(kube, names))
    woken = [starts(kube, name) for name in names]
    print(f"{sum(woken)} times from zero {woken}: {told(outcomes)}")  # noqa: T201
    assert sum(woken) >= WAKES
    assert {each.status for each in outcomes} == {200}


async def _trickle(kube: Kube, names: Sequence[str]) -> list[Outcome]:
    """Requests to each until all together were woken often enough."""
    end = time.monotonic() + LONGEST_SECONDS
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, force_close=True)) as session:

        async def one(name: str) -> list[Outcome]:
            chance, found = random.Random(name), list[Outcome]()  # noqa: S311  (no secret: moments to ask at)
            while time.monotonic() < end and await asyncio.to_thread(_woken, kube, names) < WAKES:
                found.append(await ask(session, address_of(kube, name), model=name))
                await asyncio.sleep(SHORTEST_IDLE_SECONDS + chance.uniform(2, 26))
            return found

        return [each for found in await asyncio.gather(*map(one, names)) for each in found]


def _woken(kube: Kube, names: Sequence[str]) -> int:
    return sum(starts(kube, name) for name in names)
