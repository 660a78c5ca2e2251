"""Asking a Prometheus: what it may do without harm, and which of its answers count. The real one: contracts."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from llmservice.signals.prometheus import PrometheusSettings, prometheus
from llmservice.signals.source import Reading, Target, Unread, UnreadReason
from tests.unit.signals.fake_engine import Answer, FakeEngine, a_target, fake_engine, page, pieces, silence

NOW = 1_800_000_000.0
CHAT = a_target("chat-0", engine="llamacpp", address="10.0.0.7")
LOAD = {
    "llamacpp:requests_processing": 2.0,
    "llamacpp:requests_deferred": 5.0,
    "llamacpp:prompt_tokens_total": 9.0,
    "llamacpp:tokens_predicted_total": 900.0,
}

Rows = dict[str, list[tuple[dict[str, str], float]]]
"""Query without its matchers → label sets and values."""


def scraped(pod: str = "chat-0", at: float = NOW - 5, up: float = 1.0, **labels: str) -> Rows:
    """What a server has of one llama.cpp pod."""
    known = {"namespace": "team", "pod": pod, "job": "engines", "instance": "10.0.0.7:8000", **labels}
    load = LOAD if up else {}
    return {name: [(known, value)] for name, value in {"timestamp(up)": at, "up": up, **load}.items()}


def both(one: Rows, other: Rows) -> Rows:
    return {name: one.get(name, []) + other.get(name, []) for name in one.keys() | other.keys()}


def a_server(rows: Rows, asked: list[dict[str, str]] | None = None) -> Answer:
    """Answers queries from the rows."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
        if asked is not None:
            asked.append(query)
        name = re.sub(r'\{namespace=~"[^"]+",(exported_)?pod!=""}', "", query["query"])
        vector = [{"metric": labels, "value": [NOW, str(value)]} for labels, value in rows.get(name, ())]
        result = [NOW, str(NOW)] if name == "time()" else vector
        page(json.dumps({"status": "success", "data": {"result": result}}))(request)

    return answer


@pytest.fixture
def server() -> Iterator[FakeEngine]:
    with fake_engine(a_server(scraped())) as server:
        yield server


async def read(server: FakeEngine, *targets: Target, **settings: object) -> dict[Target, Reading | Unread]:
    usual = {"url": f"http://127.0.0.1:{server.port}/", "round_seconds": 5.0}
    with prometheus(PrometheusSettings(**{**usual, **settings})) as source:  # type: ignore[arg-type]
        return await source.read(targets or (CHAT,))


async def read_one(server: FakeEngine, **settings: object) -> Reading | Unread:
    return (await read(server, **settings))[CHAT]


async def unread(server: FakeEngine, answer: Answer, **settings: object) -> Unread:
    server.answer = answer
    result = await read_one(server, **settings)
    assert isinstance(result, Unread), result
    assert ": " in result.message
    return result


async def test_a_reading_is_as_old_as_its_scrape(server: FakeEngine) -> None:
    result = await read_one(server)
    assert isinstance(result, Reading)
    assert (result.at, result.counters.at, result.counters.running, result.counters.waiting) == (NOW - 5, NOW - 5, 2, 5)


async def test_one_query_per_metric_for_all_services(server: FakeEngine) -> None:
    asked: list[dict[str, str]] = []
    server.answer = a_server(both(scraped("chat-0"), scraped("other-0")), asked)
    results = await read(server, CHAT, a_target("other-0", engine="llamacpp"))
    assert [isinstance(result, Reading) for result in results.values()] == [True, True]
    names = sorted(query["query"].partition("{")[0] for query in asked)
    assert names == sorted(["time()", "timestamp(up", "up", *LOAD])


async def test_all_queries_are_for_one_moment(server: FakeEngine) -> None:
    asked: list[dict[str, str]] = []
    server.answer = a_server(scraped(), asked)
    await read_one(server)
    assert {query.get("time") for query in asked[1:]} == {str(NOW - 1)}


async def test_many_namespaces_do_not_make_a_query_too_long(server: FakeEngine) -> None:
    asked: list[dict[str, str]] = []
    server.answer = a_server(scraped(), asked)
    spread = [replace(CHAT, namespace=f"namespace-{number}") for number in range(1000)]
    await read(server, *spread, CHAT)
    assert max(len(query["query"]) for query in asked) < 200


async def test_labels_may_have_other_names(server: FakeEngine) -> None:
    server.answer = a_server(scraped("sidecar", exported_pod="chat-0"))
    result = await read_one(server, pod_label="exported_pod")
    assert isinstance(result, Reading)


async def test_a_stale_sample_is_no_reading(server: FakeEngine) -> None:
    result = await unread(server, a_server(scraped(at=NOW - 83)))
    assert result.reason is UnreadReason.NOT_SCRAPED
    assert "its last scrape is 83 s old: shorten the interval" in result.message


async def test_a_pod_the_server_does_not_know(server: FakeEngine) -> None:
    result = await unread(server, a_server(scraped("another-0")))
    assert result.reason is UnreadReason.NOT_SCRAPED
    assert "let it scrape port 8000 of all pods, with the labels namespace and pod" in result.message


async def test_a_pod_the_server_cannot_scrape(server: FakeEngine) -> None:
    result = await unread(server, a_server(scraped(up=0.0)))
    assert result.reason is UnreadReason.NOT_SCRAPED
    assert "it cannot scrape 10.0.0.7:8000" in result.message


async def test_a_metric_that_was_dropped_on_the_way_is_named(server: FakeEngine) -> None:
    rows = scraped()
    del rows["llamacpp:requests_deferred"]
    result = await unread(server, a_server(rows))
    assert result.reason is UnreadReason.SIGNAL_MISSING
    assert result.message.startswith("llamacpp:requests_deferred is not among its metrics")
    assert "relabeling" in result.message


async def test_a_pod_that_is_scraped_twice_counts_once(server: FakeEngine) -> None:
    server.answer = a_server(both(scraped(job="a", at=NOW - 9), scraped(job="b", at=NOW - 3)))
    result = await read_one(server)
    assert isinstance(result, Reading)
    assert (result.at, result.counters.running) == (NOW - 3, 2)


TGI = replace(CHAT, readings=a_target(engine="tgi").readings)


@pytest.mark.parametrize(("exposed", "is_idle"), [(0.0, True), (None, True), (412.0, False)])
async def test_an_empty_page_is_told_from_one_of_another_engine(
    server: FakeEngine, exposed: float | None, *, is_idle: bool
) -> None:
    rows = scraped()
    if exposed is not None:
        rows["scrape_samples_scraped"] = [(labels, exposed) for labels, _ in rows["up"]]
    server.answer = a_server(rows)
    result = (await read(server, TGI))[TGI]
    assert isinstance(result, Reading) is is_idle
    if isinstance(result, Unread):
        assert result.reason is UnreadReason.SIGNAL_MISSING
        assert result.message.startswith("it has metrics, but none whose name begins with tgi_")
        assert "relabeling" in result.message


async def test_pods_of_two_engines_of_one_service_are_each_read_as_what_they_are(server: FakeEngine) -> None:
    rows = both(scraped(), scraped("chat-1", up=0.0, instance="10.0.0.8:8000"))
    rows["up"][1] = (rows["up"][1][0], 1.0)
    rows["scrape_samples_scraped"] = [(rows["up"][0][0], 412.0), (rows["up"][1][0], 0.0)]
    server.answer = a_server(rows)
    fresh = replace(TGI, pod="chat-1", address="10.0.0.8")
    readings = (await read(server, CHAT, fresh)).values()
    assert [item.counters.running for item in readings if isinstance(item, Reading)] == [2, 0]


async def test_another_port_of_the_pod_does_not_count(server: FakeEngine) -> None:
    sidecar = {name: rows for name, rows in scraped(instance="10.0.0.7:15090").items() if "up" in name}
    server.answer = a_server(both(sidecar, scraped(at=NOW - 20)))
    result = await read_one(server)
    assert isinstance(result, Reading)
    assert result.at == NOW - 20


async def test_nobody_listens() -> None:
    with fake_engine() as server:
        pass
    result = await read_one(server)
    assert isinstance(result, Unread)
    assert result.reason is UnreadReason.UNREACHABLE
    assert "LLMSERVICE_PROMETHEUS_URL" in result.message


async def test_a_server_that_is_down_leaves_every_target_unread() -> None:
    with fake_engine() as server:
        pass
    targets = [a_target(f"chat-{number}") for number in range(3)]
    results = await read(server, *targets)
    assert [result.reason for result in results.values() if isinstance(result, Unread)] == [
        UnreadReason.UNREACHABLE
    ] * 3


@pytest.mark.parametrize(
    ("answer", "reason", "said"),
    [
        (page("no", 401), UnreadReason.UNAUTHORIZED, "correct the token"),
        (page("no", 403), UnreadReason.UNAUTHORIZED, "correct the token"),
        (page("", 302, Location="http://login.example/"), UnreadReason.REDIRECTED, "leads to http://login.example/"),
        (page('{"status":"error","error":"bad"}', 422), UnreadReason.REFUSED, "HTTP Status Code 422"),
        (page("busy", 503), UnreadReason.REFUSED, "HTTP Status Code 503"),
        (page("<html></html>"), UnreadReason.NOT_METRICS, "does not answer as Prometheus does"),
        (page('{"status":"success"}'), UnreadReason.NOT_METRICS, "does not answer as Prometheus does"),
        (page('{"data":{"result":[]}}'), UnreadReason.NOT_METRICS, "does not answer as Prometheus does"),
        (page('{"data":{"result":[0,"x"]}}'), UnreadReason.NOT_METRICS, "does not answer as Prometheus does"),
    ],
    ids=["401", "403", "redirect", "422", "503", "html", "no data", "no time", "no number"],
)
async def test_a_server_that_answers_something_else(
    server: FakeEngine, answer: Answer, reason: UnreadReason, said: str
) -> None:
    result = await unread(server, answer)
    assert result.reason is reason
    assert said in result.message


@pytest.mark.parametrize("answer", [silence, pieces(b" ", 100, pause_seconds=0.1)], ids=["silence", "drip"])
async def test_a_slow_server_is_cut_off(server: FakeEngine, answer: Answer) -> None:
    result = await unread(server, answer, round_seconds=0.3)
    assert result.reason is UnreadReason.TIMED_OUT


async def test_a_hundred_megabytes_are_not_read(server: FakeEngine) -> None:
    result = await unread(server, pieces(b"x" * 2**20, 100), answer_bytes=4 * 2**20)
    assert result.reason is UnreadReason.TOO_LARGE
    assert "more than 4 MiB for one metric" in result.message


async def test_a_server_is_asked_once_more_only_in_the_next_round(server: FakeEngine) -> None:
    await unread(server, page("busy", 503))
    assert server.requests == 1


async def test_the_token_is_read_anew_for_each_round(server: FakeEngine, tmp_path: Path) -> None:
    token = tmp_path / "token"
    settings = PrometheusSettings(url=f"http://127.0.0.1:{server.port}", token_file=str(token))
    with prometheus(settings) as source:
        for written in ("one\n", "two\n"):
            token.write_text(written)
            await source.read([CHAT])
            assert server.headers["Authorization"] == f"Bearer {written.strip()}"


async def test_a_token_that_cannot_be_read_is_named(server: FakeEngine, tmp_path: Path) -> None:
    result = await read_one(server, token_file=str(tmp_path / "none"))
    assert isinstance(result, Unread)
    assert result.reason is UnreadReason.UNAUTHORIZED
    assert f"correct {tmp_path / 'none'}" in result.message
    assert server.requests == 0


async def test_nothing_to_read_asks_nothing(server: FakeEngine) -> None:
    with prometheus(PrometheusSettings(url=f"http://127.0.0.1:{server.port}")) as source:
        assert await source.read([]) == {}
    assert server.requests == 0
