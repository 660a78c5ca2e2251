"""Asking a Prometheus: what it may do without harm, and which of its answers count. The real one: contracts."""

import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.signals.prometheus import PrometheusSettings, prometheus
from llmservice.signals.source import Target
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
    """Answers queries from the rows: those of the namespace that is asked for, by the names that are."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
        if asked is not None:
            asked.append(query)
        result = [NOW, str(NOW)] if query["query"] == "time()" else [*vector(rows, query["query"])]
        page(json.dumps({"status": "success", "data": {"result": result}}))(request)

    return answer


def vector(rows: Rows, query: str) -> Iterator[dict[str, object]]:
    namespace = re.findall(r'[{,]namespace="([^"]+)",(?:exported_)?pod!=""}', query)[0]
    names = {name for names in re.findall(r'__name__=~"([^"]+)"', query) for name in names.split("|")}
    for name, found in rows.items():
        for labels, value in found:
            if labels["namespace"] == namespace and name == "timestamp(up)":
                yield {"metric": {**labels, "llmservice_part": "at"}, "value": [NOW, str(value)]}
            elif labels["namespace"] == namespace and name in names:
                yield {"metric": {**labels, "__name__": name, "llmservice_part": "sum"}, "value": [NOW, str(value)]}


@pytest.fixture
def server() -> Iterator[FakeEngine]:
    with fake_engine(a_server(scraped())) as server:
        yield server


async def read(server: FakeEngine, *targets: Target, **settings: object) -> dict[Target, Reading | ReadFailure]:
    usual = {"url": f"http://127.0.0.1:{server.port}/", "round_seconds": 5.0}
    with prometheus(PrometheusSettings(**{**usual, **settings})) as source:  # type: ignore[arg-type]
        return await source.read(targets or (CHAT,))


async def read_one(server: FakeEngine, **settings: object) -> Reading | ReadFailure:
    return (await read(server, **settings))[CHAT]


async def unread(server: FakeEngine, answer: Answer, **settings: object) -> ReadFailure:
    server.answer = answer
    result = await read_one(server, **settings)
    assert isinstance(result, ReadFailure), result
    assert ": " in result.message
    return result


async def test_a_reading_is_as_old_as_its_scrape(server: FakeEngine) -> None:
    result = await read_one(server)
    assert isinstance(result, Reading)
    assert (result.at, result.counters.running, result.counters.waiting) == (NOW - 5, 2, 5)


async def test_a_namespace_is_one_query_however_many_pods_and_metrics(server: FakeEngine) -> None:
    asked: list[dict[str, str]] = []
    server.answer = a_server(both(scraped("chat-0"), scraped("other-0")), asked)
    results = await read(server, CHAT, a_target("other-0", engine="llamacpp"))
    assert [isinstance(result, Reading) for result in results.values()] == [True, True]
    assert len(asked) == 2
    assert asked[0]["query"] == "time()"
    assert all(name in asked[1]["query"] for name in ("timestamp(up", "up", *LOAD))


async def test_all_queries_are_for_one_moment(server: FakeEngine) -> None:
    asked: list[dict[str, str]] = []
    server.answer = a_server(scraped(), asked)
    await read(server, *spread(5))
    assert [query.get("time") for query in asked] == [None, *[str(NOW - 1)] * 5]


def spread(count: int) -> list[Target]:
    """A target in each of so many namespaces."""
    return [replace(CHAT, namespace=f"namespace-{number}") for number in range(count)]


def scraped_in(*targets: Target) -> Rows:
    rows: Rows = {}
    for target in targets:
        rows = both(rows, scraped(target.pod, namespace=target.namespace))
    return rows


async def test_no_query_is_longer_than_every_url_may_be(server: FakeEngine) -> None:
    asked: list[dict[str, str]] = []
    server.answer = a_server(scraped(), asked)
    engines = [
        replace(CHAT, metric_names=a_target(engine=engine).metric_names) for engine in ("vllm", "tgi", "llamacpp")
    ]
    await read(server, *(replace(target, namespace="n" * 63) for target in engines))
    assert max(len(query["query"]) for query in asked) < 4000


async def test_every_namespace_is_asked_for(server: FakeEngine) -> None:
    targets = spread(30)
    server.answer = a_server(scraped_in(*targets))
    results = await read(server, *targets)
    assert [isinstance(result, Reading) for result in results.values()] == [True] * 30
    assert server.requests == 31


def only_for(namespace: str, bad: Answer, good: Answer) -> Answer:
    """Answers badly where one namespace is asked for."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        (bad if namespace in request.path else good)(request)

    return answer


@pytest.mark.parametrize(
    ("bad", "reason", "said"),
    [
        (
            pieces(b"x" * 2**20, 10),
            ReadFailureReason.TOO_LARGE,
            "more than 8 MiB for this namespace: let it scrape each pod",
        ),
        (silence, ReadFailureReason.TIMED_OUT, "did not answer a query within 0.3 s"),
        (page('{"status":"error","error":"too many samples"}', 422), ReadFailureReason.REFUSED, "HTTP Status Code 422"),
        (page("<html></html>"), ReadFailureReason.NOT_METRICS, "does not answer as Prometheus does"),
        (
            page('{"data":{"result":[{"metric":[],"value":[1,"1"]}]}}'),
            ReadFailureReason.NOT_METRICS,
            "as Prometheus does",
        ),
    ],
    ids=["too large", "silence", "refused", "html", "no labels"],
)
async def test_what_is_wrong_with_one_namespace_is_told_of_its_own_pods(
    server: FakeEngine, bad: Answer, reason: ReadFailureReason, said: str
) -> None:
    targets = spread(4)
    server.answer = only_for("namespace-1", bad, a_server(scraped_in(*targets)))
    results = await read(server, *targets, query_seconds=0.3)
    unread = {target.namespace: result for target, result in results.items() if isinstance(result, ReadFailure)}
    assert [*unread] == ["namespace-1"]
    assert unread["namespace-1"].reason is reason
    assert said in unread["namespace-1"].message


async def test_namespaces_that_were_late_are_asked_after_the_others(server: FakeEngine) -> None:
    targets, asked = spread(4), list[dict[str, str]]()
    good = a_server(scraped_in(*targets), asked)
    server.answer = only_for("namespace-0", silence, only_for("namespace-2", pieces(b"x" * 2**20, 10), good))
    settings = PrometheusSettings(url=f"http://127.0.0.1:{server.port}", query_seconds=0.3, at_once=1)
    with prometheus(settings) as source:
        await source.read(targets)
        server.answer = good
        asked.clear()
        await source.read(targets)
    order = [re.findall(r'namespace="([^"]+)"', query["query"])[0] for query in asked[1:]]
    assert order == ["namespace-1", "namespace-3", "namespace-0", "namespace-2"]


async def test_what_the_round_is_too_short_for_was_not_asked(server: FakeEngine) -> None:
    targets = spread(4)
    server.answer = only_for("namespace", silence, a_server(scraped_in(*targets)))
    results = await read(server, *targets, round_seconds=0.5, query_seconds=0.3, at_once=1)
    assert [result.reason for result in results.values() if isinstance(result, ReadFailure)] == [
        ReadFailureReason.TIMED_OUT,
        ReadFailureReason.TIMED_OUT,
        ReadFailureReason.PASSED_OVER,
        ReadFailureReason.PASSED_OVER,
    ]


async def test_no_more_answers_are_asked_for_at_once_than_allowed(server: FakeEngine) -> None:
    targets, open_now, most = spread(12), 0, 0
    lock, good = threading.Lock(), a_server(scraped_in(*targets))

    def answer(request: BaseHTTPRequestHandler) -> None:
        nonlocal open_now, most
        with lock:
            open_now += 1
            most = max(most, open_now)
        time.sleep(0.02)
        with lock:
            open_now -= 1
        good(request)

    server.answer = answer
    results = await read(server, *targets, at_once=3)
    assert all(isinstance(result, Reading) for result in results.values())
    assert 1 < most <= 3


async def test_long_labels_are_cut(server: FakeEngine) -> None:
    result = await unread(server, a_server(scraped(up=0.0, instance="x" * 60_000)))
    assert len(result.message) < 500


async def test_labels_may_have_other_names(server: FakeEngine) -> None:
    server.answer = a_server(scraped("sidecar", exported_pod="chat-0"))
    result = await read_one(server, pod_label="exported_pod")
    assert isinstance(result, Reading)


async def test_a_stale_sample_is_no_reading(server: FakeEngine) -> None:
    result = await unread(server, a_server(scraped(at=NOW - 83)))
    assert result.reason is ReadFailureReason.NOT_SCRAPED
    assert "its last scrape is 83 s old: shorten the interval" in result.message


async def test_a_pod_the_server_does_not_know(server: FakeEngine) -> None:
    result = await unread(server, a_server(scraped("another-0")))
    assert result.reason is ReadFailureReason.NOT_SCRAPED
    assert "let it scrape port 8000 of all pods, with the labels namespace and pod" in result.message


async def test_a_pod_the_server_cannot_scrape(server: FakeEngine) -> None:
    result = await unread(server, a_server(scraped(up=0.0)))
    assert result.reason is ReadFailureReason.NOT_SCRAPED
    assert "it cannot scrape 10.0.0.7:8000" in result.message


async def test_a_metric_that_was_dropped_on_the_way_is_named(server: FakeEngine) -> None:
    rows = scraped()
    del rows["llamacpp:requests_deferred"]
    result = await unread(server, a_server(rows))
    assert result.reason is ReadFailureReason.SIGNAL_MISSING
    assert result.message.startswith("llamacpp:requests_deferred is not among its metrics")
    assert "relabeling" in result.message


async def test_a_pod_that_is_scraped_twice_counts_once(server: FakeEngine) -> None:
    server.answer = a_server(both(scraped(job="a", at=NOW - 9), scraped(job="b", at=NOW - 3)))
    result = await read_one(server)
    assert isinstance(result, Reading)
    assert (result.at, result.counters.running) == (NOW - 3, 2)


TGI = replace(CHAT, metric_names=a_target(engine="tgi").metric_names)


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
    if isinstance(result, ReadFailure):
        assert result.reason is ReadFailureReason.SIGNAL_MISSING
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
    assert isinstance(result, ReadFailure)
    assert result.reason is ReadFailureReason.UNREACHABLE
    assert "LLMSERVICE_PROMETHEUS_URL" in result.message


async def test_a_server_that_is_down_leaves_every_target_unread() -> None:
    with fake_engine() as server:
        pass
    targets = [a_target(f"chat-{number}") for number in range(3)]
    results = await read(server, *targets)
    assert [result.reason for result in results.values() if isinstance(result, ReadFailure)] == [
        ReadFailureReason.UNREACHABLE
    ] * 3


@pytest.mark.parametrize(
    ("answer", "reason", "said"),
    [
        (page("no", 401), ReadFailureReason.UNAUTHORIZED, "correct the token"),
        (page("no", 403), ReadFailureReason.UNAUTHORIZED, "correct the token"),
        (
            page("", 302, Location="http://login.example/"),
            ReadFailureReason.REDIRECTED,
            "leads to http://login.example/",
        ),
        (page('{"status":"error","error":"bad"}', 422), ReadFailureReason.REFUSED, "HTTP Status Code 422"),
        (page("busy", 503), ReadFailureReason.REFUSED, "HTTP Status Code 503"),
        (page("<html></html>"), ReadFailureReason.NOT_METRICS, "does not answer as Prometheus does"),
        (page('{"status":"success"}'), ReadFailureReason.NOT_METRICS, "does not answer as Prometheus does"),
        (page('{"data":{"result":[]}}'), ReadFailureReason.NOT_METRICS, "does not answer as Prometheus does"),
        (page('{"data":{"result":[0,"x"]}}'), ReadFailureReason.NOT_METRICS, "does not answer as Prometheus does"),
    ],
    ids=["401", "403", "redirect", "422", "503", "html", "no data", "no time", "no number"],
)
async def test_a_server_that_answers_something_else(
    server: FakeEngine, answer: Answer, reason: ReadFailureReason, said: str
) -> None:
    result = await unread(server, answer)
    assert result.reason is reason
    assert said in result.message


@pytest.mark.parametrize("answer", [silence, pieces(b" ", 100, pause_seconds=0.1)], ids=["silence", "drip"])
async def test_a_slow_server_is_cut_off(server: FakeEngine, answer: Answer) -> None:
    result = await unread(server, answer, round_seconds=0.3)
    assert result.reason is ReadFailureReason.TIMED_OUT


async def test_a_hundred_megabytes_are_not_read(server: FakeEngine) -> None:
    result = await unread(server, pieces(b"x" * 2**20, 100))
    assert result.reason is ReadFailureReason.TOO_LARGE
    assert "more than 8 MiB for this namespace" in result.message


@pytest.mark.parametrize("before", range(180, 300, 11))
async def test_of_the_text_of_an_error_no_half_of_a_secret_stays(server: FakeEngine, before: int) -> None:
    result = await unread(server, page(f"{'x' * before} postgres://root:planted-pass-word@db/ {'y' * 500}", 422))
    assert "planted" not in result.message


async def test_the_text_of_an_error_is_not_read_to_its_end(server: FakeEngine) -> None:
    result = await unread(server, pieces_of_an_error)
    assert result.reason is ReadFailureReason.REFUSED
    assert len(result.message) < 500


def pieces_of_an_error(request: BaseHTTPRequestHandler) -> None:
    request.send_response(500)
    request.end_headers()
    for _ in range(100):
        request.wfile.write(b"x" * 2**20)


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
    assert isinstance(result, ReadFailure)
    assert result.reason is ReadFailureReason.UNAUTHORIZED
    assert f"correct {tmp_path / 'none'}" in result.message
    assert server.requests == 0


async def test_nothing_to_read_asks_nothing(server: FakeEngine) -> None:
    with prometheus(PrometheusSettings(url=f"http://127.0.0.1:{server.port}")) as source:
        assert await source.read([]) == {}
    assert server.requests == 0
