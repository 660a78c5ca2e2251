import asyncio
import dataclasses
from dataclasses import dataclass

import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection
from llmservice.controllers.endpoints.health import InformerPulse, LoopPulse, alive_checks, ready_checks, refusals
from llmservice.controllers.served_namespaces import ServedNamespaces
from tests.unit.cluster.fake_api_server import FakeApiServer, serving
from tests.unit.cluster.fake_time import FakeTimeLoop, simulate


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Kopf:
    watching: bool = True
    alive: bool = True

    def is_alive(self) -> bool:
        return self.alive


@pytest.fixture
async def informer() -> Informer:
    async with serving(FakeApiServer()) as connection:
        return Informer(
            connection=connection,
            cache=ObjectCache(),
            selection=Selection(kind="Pod", namespace="ml"),
            last_heard=1000.0,
        )


def test_an_informer_is_dead_after_three_minutes_of_silence(informer: Informer) -> None:
    clock = Clock()
    pulse = InformerPulse(informer=informer, clock=clock)
    clock.now += 179
    assert pulse.problem() == ""
    clock.now += 2
    assert pulse.problem() == "no event, bookmark or try for 181 s"


def test_a_bookmark_is_a_sign_of_life(informer: Informer) -> None:
    clock = Clock()
    pulse = InformerPulse(informer=informer, clock=clock)
    clock.now += 300
    informer.last_heard = clock.now - 10
    assert pulse.problem() == ""


def test_an_api_server_that_is_away_is_no_reason_to_restart(informer: Informer) -> None:
    clock = Clock()
    pulse = InformerPulse(informer=informer, clock=clock)
    for _ in range(60):
        clock.now += 10
        informer.restarts["failed"] += 1
        assert pulse.problem() == ""


def test_a_hanging_loop_is_late_and_then_dead() -> None:
    async def scene(loop: FakeTimeLoop) -> list[str]:
        pulse = LoopPulse(clock=loop.time)
        task = asyncio.create_task(pulse.run())
        await asyncio.sleep(5.5)
        fine = pulse.problem()
        loop.freeze(20)
        hangs = pulse.problem()
        await asyncio.sleep(1.5)
        again = pulse.problem()
        task.cancel()
        return [fine, hangs, again]

    fine, hangs, again = simulate(scene)
    assert (fine, again) == ("", "")
    assert hangs.startswith("the event loop hangs for ")


def test_alive_asks_loop_kopf_and_every_informer(informer: Informer) -> None:
    kopf = Kopf()
    checks = alive_checks([informer], kopf, LoopPulse())
    assert list(checks) == ["loop", "kopf", "Pod/ml"]
    assert checks["kopf"]() == ""
    kopf.alive = False
    assert checks["kopf"]() == "the thread of kopf has ended"


def test_ready_waits_for_the_crd_and_for_warm_caches(informer: Informer) -> None:
    kopf = Kopf(watching=False)
    checks = ready_checks([informer], kopf, ServedNamespaces([informer]))
    assert {name: check() for name, check in checks.items()} == {
        "llmservices": "LLMServices are not watched yet: is the CRD installed?",
        "Pod/ml": "not listed yet",
    }
    kopf.watching = True
    informer.synced.set()
    assert [check() for check in checks.values()] == ["", ""]


async def test_ready_without_the_namespace_that_is_refused_when_another_one_is_listed(informer: Informer) -> None:
    gone = dataclasses.replace(
        informer, selection=Selection(kind="Pod", namespace="gone"), synced=asyncio.Event(), refusal="pods is forbidden"
    )
    checks = ready_checks([informer, gone], Kopf(), ServedNamespaces([informer, gone]))
    assert checks["Pod/gone"]() == "not listed yet: pods is forbidden"
    informer.synced.set()
    assert [check() for check in checks.values()] == ["", "", ""]
    remarks = refusals([informer, gone])
    assert (remarks["Pod/ml"](), remarks["Pod/gone"]()) == ("", "refused: pods is forbidden")
