"""Scraping pods: whatever one of them does costs a bounded time, and is named."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler

import orjson
import pytest

from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.signals.pod_scrape import Limits, pods
from llmservice.signals.source import Target
from tests.unit.signals.fake_engine import Answer, FakeEngine, a_target, fake_engine, page, pieces, recorded, silence

SOON = Limits(pod_seconds=0.3, round_seconds=2.0)


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    with fake_engine(page(recorded("vllm"))) as engine:
        yield engine


async def read_one(target: Target, limits: Limits = SOON) -> Reading | ReadFailure:
    async with pods(limits) as source:
        (result,) = (await source.read([target])).values()
        return result


async def unread(engine: FakeEngine, answer: Answer, limits: Limits = SOON) -> ReadFailure:
    engine.answer = answer
    result = await read_one(engine.target(), limits)
    assert isinstance(result, ReadFailure), result
    assert ": " in result.message
    return result


async def test_reads_a_pod(engine: FakeEngine) -> None:
    result = await read_one(engine.target())
    assert isinstance(result, Reading)
    assert (result.counters.running, result.counters.waiting) == (4, 3)


async def test_asks_plainly_and_on_a_connection_of_its_own(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert isinstance(await read_one(engine.target()), Reading)
    assert engine.headers["Accept-Encoding"] == "identity"
    assert engine.headers["Connection"] == "close"


async def test_nobody_listens() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        result = await read_one(a_target(port=closed.getsockname()[1]))
    assert isinstance(result, ReadFailure)
    assert result.reason is ReadFailureReason.UNREACHABLE
    assert "NetworkPolicy" in result.message


@pytest.mark.parametrize("address", ["", "no such host", "10.0.0.1/evil?"])
async def test_an_address_that_is_none_is_unreachable(address: str) -> None:
    result = await read_one(a_target(address=address))
    assert isinstance(result, ReadFailure)
    assert result.reason is ReadFailureReason.UNREACHABLE


async def test_an_engine_that_never_answers(engine: FakeEngine) -> None:
    result = await unread(engine, silence)
    assert result.reason is ReadFailureReason.TIMED_OUT
    assert result.message.startswith("no full answer within 0.3 s")


async def test_a_slow_drip_is_cut_off(engine: FakeEngine) -> None:
    result = await unread(engine, pieces(b"vllm:num_requests_running 1\n", 100, pause_seconds=0.1))
    assert result.reason is ReadFailureReason.TIMED_OUT


async def test_a_hundred_megabytes_are_not_read(engine: FakeEngine) -> None:
    result = await unread(engine, pieces(b"x" * 2**20, 100), Limits())
    assert result.reason is ReadFailureReason.TOO_LARGE
    assert result.message.startswith("more than 1 MiB of metrics")


async def test_an_address_that_is_not_utf_8_is_written_so_that_a_status_can_hold_it(engine: FakeEngine) -> None:
    result = await unread(engine, page("", 302, Location="http://\xff/" + "x" * 500))
    assert "leads to http://\\udcff/x" in result.message
    assert len(orjson.dumps(result.message)) < 1000


async def test_a_redirect_is_not_followed(engine: FakeEngine) -> None:
    with fake_engine(page(recorded("vllm"))) as elsewhere:
        result = await unread(engine, page("", 302, Location=f"http://127.0.0.1:{elsewhere.port}/metrics"))
        assert elsewhere.requests == 0
    assert result.reason is ReadFailureReason.REDIRECTED
    assert str(elsewhere.port) in result.message


@pytest.mark.parametrize("status", [401, 403])
async def test_an_engine_that_wants_a_key(engine: FakeEngine, status: int) -> None:
    result = await unread(engine, page("who are you?", status))
    assert result.reason is ReadFailureReason.UNAUTHORIZED
    assert "leave out what sets a key" in result.message


@pytest.mark.parametrize("status", [404, 500, 503])
async def test_an_engine_that_is_in_trouble(engine: FakeEngine, status: int) -> None:
    result = await unread(engine, page(recorded("vllm"), status))
    assert result.reason is ReadFailureReason.REFUSED
    assert result.message.startswith(f"HTTP {status} for /metrics")


@pytest.mark.parametrize("content", ["<html><body>Welcome to nginx!</body></html>\n", '{"status": "ok"}', "\x00\x01"])
async def test_something_else_than_metrics(engine: FakeEngine, content: str) -> None:
    result = await unread(engine, page(content))
    assert result.reason is ReadFailureReason.NOT_METRICS
    assert "something else than the engine listens" in result.message


async def test_a_page_with_too_many_lines_is_too_large(engine: FakeEngine) -> None:
    result = await unread(engine, page(recorded("vllm") + b"x 1\n" * 50_000), Limits(pod_seconds=5))
    assert result.reason is ReadFailureReason.TOO_LARGE
    assert result.message.startswith("more than 50000 lines of metrics")


async def test_html_is_no_fresh_engine(engine: FakeEngine) -> None:
    engine.answer = page("<html></html>\n")
    result = await read_one(engine.target(engine="tgi"))
    assert isinstance(result, ReadFailure)
    assert result.reason is ReadFailureReason.NOT_METRICS


async def test_a_busy_engine_of_another_kind_is_no_idle_one(engine: FakeEngine) -> None:
    result = await read_one(engine.target(engine="tgi"))
    assert isinstance(result, ReadFailure)
    assert result.reason is ReadFailureReason.SIGNAL_MISSING
    assert result.message.startswith("it has metrics, but none whose name begins with tgi_: wait while a rollout")


@pytest.mark.parametrize("content", ["", "tgi_request_count 1\nprocess_open_fds 7\n"])
async def test_an_engine_without_what_is_read_has_done_nothing_yet(engine: FakeEngine, content: str) -> None:
    engine.answer = page(content)
    result = await read_one(engine.target(engine="tgi"))
    assert isinstance(result, Reading)
    assert result.counters.running == 0


async def test_a_packed_answer_is_not_unpacked(engine: FakeEngine) -> None:
    result = await unread(engine, page(b"\x1f\x8b" + b"\x00" * 100, Content_Encoding="gzip"))
    assert result.reason is ReadFailureReason.NOT_METRICS


async def test_an_answer_that_breaks_off(engine: FakeEngine) -> None:
    result = await unread(engine, page("vllm:num_requests_running 1\n", Content_Length="99999"))
    assert result.reason is ReadFailureReason.UNREACHABLE


async def test_no_answer_in_http_at_all(engine: FakeEngine) -> None:
    def greet(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")

    result = await unread(engine, greet)
    assert result.reason is ReadFailureReason.UNREACHABLE


async def test_half_the_pods_silent_leaves_the_other_half() -> None:
    with ExitStack() as stack:
        engines = [
            stack.enter_context(fake_engine(page(recorded("vllm")) if number % 2 else silence)) for number in range(8)
        ]
        targets = [engine.target(f"chat-{number}") for number, engine in enumerate(engines)]
        async with pods(Limits(pod_seconds=1.5)) as source:
            results = await source.read(targets)
    assert [isinstance(results[target], Reading) for target in targets] == [False, True] * 4


async def test_no_more_are_asked_at_once_than_allowed_and_the_round_ends() -> None:
    with ExitStack() as stack:
        engines = [stack.enter_context(fake_engine(silence)) for _ in range(3)]
        targets = [engine.target(f"chat-{number}") for number, engine in enumerate(engines)]
        async with pods(Limits(pod_seconds=0.5, round_seconds=0.9, at_once=1)) as source:
            results = await source.read(targets)
    assert [engine.requests for engine in engines] == [1, 1, 0]
    reasons = [result.reason for result in results.values() if isinstance(result, ReadFailure)]
    assert reasons == [ReadFailureReason.TIMED_OUT, ReadFailureReason.TIMED_OUT, ReadFailureReason.PASSED_OVER]


async def test_where_nobody_is_late_nobody_is_blamed_for_a_pod_without_its_turn(engine: FakeEngine) -> None:
    result = await read_one(engine.target(), Limits(round_seconds=-1))
    assert isinstance(result, ReadFailure)
    assert result.reason is ReadFailureReason.PASSED_OVER
    assert "the operator itself could not ask more of them; give it more CPU" in result.message


async def test_nothing_to_read_is_nothing() -> None:
    async with pods() as source:
        assert await source.read([]) == {}
