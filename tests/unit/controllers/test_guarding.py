"""Who may read metrics and explanations: asked once, remembered for a moment, and never a flood of questions."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
import pytest
from aiohttp import web

from llmservice.cluster.reviews import Question, Verdict, may_get_metrics, may_get_service
from llmservice.controllers.endpoints.guarding import TokenGuard
from llmservice.errors import Unavailable
from llmservice.fairness.token_buckets import TokenBuckets
from tests.unit.controllers.http_asking import a_request, as_read

METRICS = may_get_metrics()
YES, NO, NOBODY = Verdict(user="prometheus", allowed=True), Verdict(user="tenant"), Verdict()


@dataclass
class Court:
    """Verdicts by token, and what was asked; nothing is answered while `closed`."""

    verdicts: dict[str, Verdict] = field(default_factory=lambda: {"good": YES, "poor": NO})
    asked: list[tuple[str, str]] = field(default_factory=list)
    opened: int = 0
    failing: bool = False
    free: asyncio.Event = field(default_factory=asyncio.Event)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.free.set()

    async def verdict(self, token: str, question: Question) -> Verdict:
        self.asked.append((token, question.words))
        await self.free.wait()
        if self.failing:
            raise Unavailable("Unreachable", "the API server cannot be reached")
        return self.verdicts.get(token, NOBODY)

    @asynccontextmanager
    async def judging(self) -> AsyncIterator["Court"]:
        self.opened += 1
        yield self


def a_guard(court: Court) -> TokenGuard:
    return TokenGuard(judging=court.judging, clock=lambda: court.now)


def message(answer: web.Response | None) -> str:
    assert answer is not None
    found: str = orjson.loads(answer.text or "")["message"]
    return found


async def refused(guard: TokenGuard, token: str, question: Question = METRICS, address: str = "10.0.0.1") -> int:
    """The status of the refusal; 0 for none."""
    answer = await guard.refusal(a_request(token=token, address=address), question)
    return answer.status if answer else 0


async def test_who_shows_nothing_is_told_how_to_ask_and_nobody_is_asked() -> None:
    court = Court()
    for headers in ({}, {"authorization": "Basic abc"}, {"authorization": "Bearer"}, {"authorization": "Bearer a b"}):
        answer = await a_guard(court).refusal(a_request(**headers), METRICS)
        assert answer is not None
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="llmservice"')
        assert message(answer).endswith("of somebody who may get the nonResourceURL /metrics")
    assert court.asked == []


@pytest.mark.parametrize("name", ["Authorization", "X-LLMService-Authorization"])
async def test_of_two_tokens_nobody_knows_which_is_meant(name: str) -> None:
    court = Court()
    headers = ["Host: x", f"{name}: Bearer good", f"{name.lower()}: Bearer poor"]
    answer = await a_guard(court).refusal(as_read("/metrics", headers), METRICS)
    assert answer is not None
    assert answer.status == 400
    assert message(answer).startswith(f"{name} is given twice")
    assert court.asked == []


async def test_who_may_is_let_in_by_either_header() -> None:
    guard = a_guard(Court())
    assert await refused(guard, "good") == 0
    request = a_request(**{"authorization": "Bearer junk", "x-llmservice-authorization": "Bearer good"})
    assert await guard.refusal(request, METRICS) is None


async def test_who_may_not_is_told_which_right_is_missing() -> None:
    guard = a_guard(Court())
    answer = await guard.refusal(a_request(token="poor"), may_get_service("ml", "chat"))  # noqa: S106
    assert message(answer) == (
        "tenant may not get llmservices.llmservice.dev chat in namespace ml: ask for a role that allows it"
    )
    assert await refused(guard, "poor") == 403


async def test_a_token_that_nobody_knows_is_no_user() -> None:
    assert await refused(a_guard(Court()), "unknown") == 401


@pytest.mark.parametrize(("token", "status", "seconds"), [("good", 0, 60), ("poor", 403, 10), ("unknown", 401, 10)])
async def test_an_answer_is_remembered_for_a_moment(token: str, status: int, seconds: float) -> None:
    court = Court()
    guard = a_guard(court)
    for court.now in (0.0, seconds - 1):
        assert await refused(guard, token) == status
    assert len(court.asked) == 1
    court.now = seconds + 1
    assert await refused(guard, token) == status
    assert len(court.asked) == 2


async def test_a_right_that_was_taken_away_is_gone_with_the_memory() -> None:
    court = Court()
    guard = a_guard(court)
    assert await refused(guard, "good") == 0
    court.verdicts["good"], court.now = NO, 61
    assert await refused(guard, "good") == 403
    court.now = 65
    assert await refused(guard, "good") == 403


async def test_each_right_is_a_question_of_its_own() -> None:
    court = Court()
    guard = a_guard(court)
    for name in ("one", "two", "one"):
        await refused(guard, "good", may_get_service("ml", name))
    assert [words.split()[2] for _, words in court.asked] == ["one", "two"]


async def test_who_ask_the_same_at_once_are_one_question_over_one_connection() -> None:
    court = Court()
    guard = a_guard(court)
    court.free.clear()
    asking = [asyncio.create_task(refused(guard, "good")) for _ in range(50)]
    for _ in range(10):
        await asyncio.sleep(0)
    asking[0].cancel()
    court.free.set()
    assert [await each for each in asking[1:]] == [0] * 49
    assert (len(court.asked), court.opened) == (1, 1)


async def test_a_flood_of_bad_tokens_is_a_trickle_of_questions_and_keeps_nobody_out() -> None:
    court = Court()
    guard = a_guard(court)
    assert await refused(guard, "good", address="10.0.0.9") == 0
    statuses = [await refused(guard, f"bad-{number}", address="10.0.0.9") for number in range(500)]
    assert (statuses.count(401), statuses.count(429)) == (9, 491)
    court.now = 61.0  # the yes has to be asked for again
    assert await refused(guard, "good", address="10.0.0.9") == 0
    assert await refused(guard, "poor", address="10.0.0.2") == 403
    assert len(court.asked) == 12


async def test_many_addresses_together_have_a_limit_too() -> None:
    court = Court()
    guard = a_guard(court)
    for number in range(500):
        await refused(guard, f"bad-{number}", address=f"10.0.1.{number}")
    assert len(court.asked) <= 110


async def test_what_is_remembered_is_bounded_and_holds_no_token() -> None:
    court = Court()
    guard = a_guard(court)
    guard.by_address = guard.in_all = TokenBuckets(burst=10**9, seconds=1)
    assert await refused(guard, "good") == 0
    for number in range(1500):
        await refused(guard, f"a-planted-token-{number}")
    assert {allowed: len(kept) for allowed, kept in guard._kept.items()} == {True: 1, False: 1024}
    assert "a-planted-token" not in repr(guard._kept)
    assert "good" not in repr(guard._kept)


async def test_without_the_api_server_it_is_said_and_not_remembered(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    court = Court(failing=True)
    guard = a_guard(court)
    answer = await guard.refusal(a_request(token="a-planted-token"), METRICS)  # noqa: S106
    assert answer is not None
    assert answer.status == 503
    assert "the API server cannot be reached" in message(answer)
    court.failing = False
    assert await refused(guard, "good") == 0
    assert "a-planted-token" not in caplog.text


async def test_while_the_api_server_is_away_who_was_let_in_stays_so_for_ten_minutes() -> None:
    court = Court()
    guard = a_guard(court)
    assert await refused(guard, "good") == 0
    court.failing = True
    for court.now, status in ((59.0, 0), (61.0, 0), (659.0, 0), (661.0, 503)):
        assert await refused(guard, "good") == status
    assert await refused(guard, "poor") == 503


async def test_questions_that_wait_are_bounded_however_long_the_api_server_takes() -> None:
    court = Court()
    court.free.clear()
    guard = a_guard(court)
    guard.by_address = guard.in_all = TokenBuckets(burst=10**9, seconds=1)
    asking = [asyncio.create_task(refused(guard, f"bad-{number}")) for number in range(1000)]
    for _ in range(50):  # rounds of the loop, not time: a busy machine takes longer for them
        await asyncio.sleep(0)
    waiting = [task for task in asking if not task.done()]
    assert {task.result() for task in asking if task.done()} == {429}
    assert (len(waiting), len(court.asked)) == (256, 8)
    for task in waiting:
        task.cancel()
    court.free.set()


async def test_a_connection_that_could_not_be_opened_is_tried_again() -> None:
    court = Court()

    @asynccontextmanager
    async def closed_at_first() -> AsyncIterator[Court]:
        court.opened += 1
        if court.opened == 1:
            raise Unavailable("NoCredentials", "no credentials in the service account")
        yield court

    guard = TokenGuard(judging=closed_at_first, clock=lambda: court.now)
    assert [await refused(guard, "good") for _ in range(2)] == [503, 0]


async def test_a_judge_that_cannot_be_had_for_whatever_reason_keeps_nobody_waiting() -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[Court]:
        court = Court()
        if not court.opened:
            raise RuntimeError("a defect")
        yield court

    guard = TokenGuard(judging=broken)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            await asyncio.wait_for(refused(guard, "good"), 10)
