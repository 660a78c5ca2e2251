"""What every source of readings keeps: the same engines give the same readings, and whatever goes wrong is named.

Pods are scraped on loopback; the Prometheus is a real one that scrapes the same fake engines.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass

import pytest

from llmservice.autoscaling.counters import flow_between
from llmservice.autoscaling.policy import Objective
from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.signals.pod_scrape import Limits, pods
from llmservice.signals.prometheus import PrometheusSettings, prometheus
from llmservice.signals.source import Source, Target
from tests.contracts.metrics_server import metrics_server, static_targets
from tests.unit.signals.fake_engine import (
    Answer,
    FakeEngine,
    fake_engine,
    page,
    pieces,
    recorded,
    silence,
)

VLLM = recorded("vllm").decode()
PODS = 3


@dataclass(frozen=True, slots=True)
class World:
    """Three pods of one service, and where to read them: `url` of a Prometheus, or nothing for the pods themselves."""

    engines: tuple[FakeEngine, ...]
    url: str = ""

    def target(self, number: int = 0, engine: str = "vllm") -> Target:
        return self.engines[number].target(f"chat-{number}", engine)

    async def answers(self, *answers: Answer | bytes | str) -> None:
        """Let the pods answer like this, the last of them like all others; returns when the source can know it."""
        given = [*answers, *([answers[-1]] * PODS)]
        for engine, answer in zip(self.engines, given, strict=False):
            engine.answer = page(answer) if isinstance(answer, bytes | str) else answer
        if self.url:
            await self._scraped()

    async def read(self, *targets: Target) -> dict[Target, Reading | ReadFailure]:
        async with self._source() as source:
            return await source.read(targets)

    async def read_one(self, answer: Answer | bytes | str, engine: str = "vllm") -> Reading | ReadFailure:
        await self.answers(answer)
        target = self.target(engine=engine)
        return (await self.read(target))[target]

    @asynccontextmanager
    async def _source(self) -> AsyncIterator[Source]:
        if self.url:
            with prometheus(PrometheusSettings(url=self.url)) as server:
                yield server
        else:
            async with pods(Limits(pod_seconds=1.0)) as scraped:
                yield scraped

    async def _scraped(self) -> None:
        """Two more scrapes began, so one with this answer ended; and the source looks a second back."""
        before = [engine.requests for engine in self.engines]
        for _ in range(200):
            if all(engine.requests > old + 1 for engine, old in zip(self.engines, before, strict=True)):
                return await asyncio.sleep(1.2)
            await asyncio.sleep(0.05)
        raise AssertionError("Prometheus does not scrape")


@pytest.fixture(scope="module", params=["pods", pytest.param("prometheus", marks=pytest.mark.cluster)])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        engines = tuple(stack.enter_context(fake_engine()) for _ in range(PODS))
        url = ""
        if request.param == "prometheus":
            labels = {
                f"127.0.0.1:{engine.port}": {"namespace": "team", "pod": f"chat-{number}"}
                for number, engine in enumerate(engines)
            }
            url = stack.enter_context(metrics_server(tmp_path_factory.mktemp("metrics"), [static_targets(labels)]))
        yield World(engines, url)


def changed(name: str, value: str) -> str:
    """vLLM's page with another value for a series of one label set."""
    lines = [
        line.rpartition(" ")[0] + f" {value}" if line.startswith(f"{name}{{") else line for line in VLLM.split("\n")
    ]
    return "\n".join(lines)


async def test_reads_engines_in_the_same_terms(world: World) -> None:
    engines = ("vllm", "tgi", "llamacpp")
    await world.answers(*(recorded(engine) for engine in engines))
    targets = [world.target(number, engine) for number, engine in enumerate(engines)]
    results = await world.read(*targets)
    vllm, tgi, llamacpp = (results[target] for target in targets)
    assert isinstance(vllm, Reading)
    assert isinstance(tgi, Reading)
    assert isinstance(llamacpp, Reading)
    assert (vllm.counters.running, vllm.counters.waiting, vllm.counters.finished) == (4, 3, 11)
    assert (tgi.counters.running, tgi.counters.waiting, tgi.counters.finished, tgi.kv_use) == (2, 5, 41, None)
    assert (llamacpp.counters.running, llamacpp.counters.waiting, llamacpp.counters.finished) == (2, 5, None)
    assert vllm.counters.ttft is not None
    assert (vllm.counters.ttft.above(2.5), len(vllm.counters.ttft.bounds)) == (3, 22)
    assert (tgi.counters.rejected, vllm.counters.prompt_tokens) == (4, 1334)


async def test_a_reading_says_when_it_was_taken(world: World) -> None:
    before = time.time()
    result = await world.read_one(VLLM)
    assert isinstance(result, Reading)
    assert before <= result.at <= time.time()


async def test_data_parallel_engines_add_up(world: World) -> None:
    other = "".join(
        f"{line}\n" for line in VLLM.replace('engine="0"', 'engine="1"').split("\n") if 'engine="1"' in line
    )
    result = await world.read_one(VLLM + other)
    assert isinstance(result, Reading)
    assert (result.counters.running, result.counters.finished) == (8, 22)
    assert result.kv_use == pytest.approx(0.000488, abs=1e-6)


async def test_a_fresh_engine_that_makes_series_on_first_use_is_idle(world: World) -> None:
    result = await world.read_one("", engine="tgi")
    assert isinstance(result, Reading)
    assert (result.counters.running, result.counters.waiting, result.counters.finished) == (0, 0, 0)


async def test_what_happened_in_between_is_known_until_an_engine_begins_again(world: World) -> None:
    tokens = "vllm:generation_tokens_total"
    results = [await world.read_one(changed(tokens, value)) for value in ("5000", "6000", "0")]
    first, second, again = (result.counters for result in results if isinstance(result, Reading))
    flow = flow_between(first, second, Objective())
    assert flow is not None
    assert (flow.generated_tokens, flow.seconds) == (1000, second.at - first.at)
    assert flow_between(second, again, Objective()) is None


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1"])
async def test_a_value_no_engine_can_mean_is_named(world: World, value: str) -> None:
    result = await world.read_one(changed("vllm:num_requests_running", value))
    assert isinstance(result, ReadFailure)
    assert result.reason is ReadFailureReason.IMPLAUSIBLE
    assert result.message.startswith("vllm:num_requests_running is ")


async def test_a_renamed_metric_is_named(world: World) -> None:
    result = await world.read_one(VLLM.replace("vllm:kv_cache_usage_perc", "vllm:kv_usage"))
    assert isinstance(result, ReadFailure)
    assert result.reason is ReadFailureReason.SIGNAL_MISSING
    assert "vllm:kv_cache_usage_perc" in result.message


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (page("<html><body>Welcome!</body></html>\n"), ReadFailureReason.NOT_METRICS),
        (page("who are you?", 401), ReadFailureReason.UNAUTHORIZED),
        (page("", 302, Location="http://127.0.0.1:9/metrics"), ReadFailureReason.REDIRECTED),
        (page("out of order", 500), ReadFailureReason.REFUSED),
        (silence, ReadFailureReason.TIMED_OUT),
        (pieces(b"a 1\n", 100, pause_seconds=0.1), ReadFailureReason.TIMED_OUT),
    ],
    ids=["html", "401", "redirect", "500", "silence", "drip"],
)
async def test_one_bad_pod_is_named_and_the_others_are_read(
    world: World, answer: Answer, reason: ReadFailureReason
) -> None:
    await world.answers(answer, VLLM, VLLM)
    targets = [world.target(number) for number in range(PODS)]
    results = await world.read(*targets)
    bad = results[targets[0]]
    assert isinstance(bad, ReadFailure)
    assert bad.reason is (ReadFailureReason.NOT_SCRAPED if world.url else reason)
    assert ": " in bad.message
    assert [isinstance(results[target], Reading) for target in targets] == [False, True, True]


async def test_normal_again_as_soon_as_the_pod_is(world: World) -> None:
    assert isinstance(await world.read_one("<html></html>\n"), ReadFailure)
    assert isinstance(await world.read_one(VLLM), Reading)
