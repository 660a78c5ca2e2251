import asyncio

import orjson
import pytest
from aiohttp import web

from llmservice import __version__
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.errors import Refused, Unavailable
from llmservice.objects.references import Ref
from tests.unit.cluster.fake_api_server import FakeApiServer, Scene, a_status, answer, serving, some_credentials
from tests.unit.cluster.objects import a_deployment

CHAT = Ref("Deployment", "default", "chat")
POD = Ref("Pod", "default", "chat-0")


async def test_applies_strictly_with_force_and_its_manager() -> None:
    fake = FakeApiServer(calls=[answer(200, a_deployment())])
    async with serving(fake) as connection:
        await ApiServer(connection).apply(a_deployment(uid="u-1"), manager="llmservice-operator")

    request = fake.requests[0]
    assert (request.method, request.path) == ("PATCH", "/apis/apps/v1/namespaces/default/deployments/chat")
    assert request.headers["Content-Type"] == "application/apply-patch+yaml"
    assert request.query == {
        "fieldManager": "llmservice-operator",
        "force": "true",
        "fieldValidation": "Strict",
    }
    assert orjson.loads(fake.bodies[0]) == a_deployment(uid="u-1")


async def test_makes_what_is_new_without_force_at_a_version_no_object_has() -> None:
    fake = FakeApiServer(calls=[answer(201, a_deployment())])
    async with serving(fake) as connection:
        await ApiServer(connection).apply_new(a_deployment(), manager="llmservice-operator")

    assert fake.requests[0].query["force"] == "false"
    assert orjson.loads(fake.bodies[0])["metadata"]["resourceVersion"] == "1"


async def test_what_is_never_changed_is_posted_to_its_collection() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": "ml", "name": "look"}, "spec": {}}
    fake = FakeApiServer(calls=[answer(201, job)])
    async with serving(fake) as connection:
        await ApiServer(connection).post(job, manager="llmservice-operator")

    (request,) = fake.requests
    assert (request.method, request.path) == ("POST", "/apis/batch/v1/namespaces/ml/jobs")
    assert request.query == {"fieldManager": "llmservice-operator", "fieldValidation": "Strict"}
    assert orjson.loads(fake.bodies[0]) == job


async def test_says_who_it_is() -> None:
    fake = FakeApiServer(calls=[answer(200, a_deployment())])
    async with serving(fake) as connection:
        await ApiServer(connection).get(CHAT)

    assert fake.requests[0].headers["User-Agent"] == f"llmservice-operator/{__version__}"
    assert fake.requests[0].headers["Accept"] == "application/json"


async def test_deletes_in_the_background_what_has_this_uid() -> None:
    fake = FakeApiServer(calls=[answer(200)])
    async with serving(fake) as connection:
        await ApiServer(connection).delete(CHAT, uid="u-1")

    options = orjson.loads(fake.bodies[0])
    assert (options["preconditions"], options["propagationPolicy"]) == ({"uid": "u-1"}, "Background")


async def test_too_many_requests_say_when_to_come_back() -> None:
    fake = FakeApiServer(calls=[answer(429, a_status(429, "slow down"), Retry_After="7")])
    async with serving(fake) as connection:
        with pytest.raises(Unavailable, match="slow down") as caught:
            await ApiServer(connection).get(CHAT)

    assert caught.value.retry_after_seconds == 7.0


async def test_a_refusal_carries_the_words_of_the_server() -> None:
    fake = FakeApiServer(calls=[answer(403, a_status(403, "deployments is forbidden: exceeded quota"))])
    async with serving(fake) as connection:
        with pytest.raises(Refused, match=r"^deployments is forbidden: exceeded quota$"):
            await ApiServer(connection).apply_new(a_deployment(), manager="m")


@pytest.mark.parametrize("body", ["<html>login</html>", "[]", '{"kind": "Depl'])
async def test_an_answer_nobody_can_read_is_unavailable(body: str) -> None:
    fake = FakeApiServer(calls=[answer(200, body)])
    async with serving(fake) as connection:
        with pytest.raises(Unavailable, match="cannot be read"):
            await ApiServer(connection).get(CHAT)


async def test_follows_no_redirect() -> None:
    fake = FakeApiServer(calls=[answer(302, Location="/elsewhere")])
    async with serving(fake) as connection:
        with pytest.raises(Unavailable):
            await ApiServer(connection).get(CHAT)

    assert len(fake.requests) == 1


async def test_a_hanging_server_is_unavailable() -> None:
    async def hang(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    async with serving(FakeApiServer(calls=[hang]), timeout_seconds=0.05) as connection:
        with pytest.raises(Unavailable, match="no answer in time"):
            await ApiServer(connection).get(CHAT)


async def test_a_server_that_hangs_up_is_unavailable() -> None:
    async def hang_up(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with serving(FakeApiServer(calls=[hang_up])) as connection:
        with pytest.raises(Unavailable, match="cannot be reached"):
            await ApiServer(connection).apply_new(a_deployment(), manager="m")


async def test_a_server_that_is_away_is_unavailable(unused_tcp_port: int) -> None:
    async with connect(some_credentials(f"http://127.0.0.1:{unused_tcp_port}")) as connection:
        with pytest.raises(Unavailable, match="cannot be reached"):
            await ApiServer(connection).get(CHAT)


def with_tokens(connection: Connection, *tokens: str) -> ApiServer:
    credentials = some_credentials(connection.credentials.server, *tokens)
    return ApiServer(Connection(credentials=credentials, session=connection.session))


def seen_tokens(fake: FakeApiServer) -> list[str]:
    return [request.headers["Authorization"] for request in fake.requests]


async def test_a_rejected_token_is_read_again_and_the_request_repeated() -> None:
    fake = FakeApiServer(calls=[answer(401), answer(200, a_deployment())])
    async with serving(fake) as connection:
        live = await with_tokens(connection, "old", "new").get(CHAT)

    assert live == a_deployment()
    assert seen_tokens(fake) == ["Bearer old", "Bearer new"]


async def test_a_token_rejected_twice_is_unavailable() -> None:
    fake = FakeApiServer(calls=[answer(401, a_status(401, "Unauthorized"))])
    async with serving(fake) as connection:
        with pytest.raises(Unavailable, match="Unauthorized"):
            await with_tokens(connection, "old", "new", "newer").get(CHAT)

    assert seen_tokens(fake) == ["Bearer old", "Bearer new"]


class Counting:
    """A scene that counts how many requests are under way at once."""

    def __init__(self) -> None:
        self.under_way = self.most = 0

    async def __call__(self, _: web.Request) -> web.StreamResponse:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.01)
        self.under_way -= 1
        return web.json_response(a_deployment())


async def test_no_more_than_64_calls_are_under_way_at_once() -> None:
    counting = Counting()
    async with serving(FakeApiServer(calls=[counting])) as connection:
        cluster = ApiServer(connection)
        await asyncio.gather(*(cluster.get(CHAT) for _ in range(150)))
    assert counting.most == 64


@pytest.mark.parametrize(("kilobytes", "at_once"), [(31, 8), (40, 2)])
async def test_large_bodies_are_sent_two_at_once(kilobytes: int, at_once: int) -> None:
    counting, body = Counting(), {"data": "x" * kilobytes * 1024}
    async with serving(FakeApiServer(calls=[counting])) as connection:
        await asyncio.gather(*(connection.call("POST", "/api", body=body) for _ in range(8)))
    assert counting.most == at_once


LONG_LINE = "a line of a traceback " * 9 + "\n"


def a_kubelets_log(log: str) -> Scene:
    """As a kubelet reads one: from so many lines before its end, at most so many bytes."""

    async def read(request: web.Request) -> web.Response:
        lines = log.splitlines(keepends=True)[-int(request.query["tailLines"]) :]
        return web.Response(text="".join(lines)[: int(request.query["limitBytes"])])

    return read


@pytest.mark.parametrize(
    ("log", "tail", "asked"),
    [
        ("one\ntwo\n", "one\ntwo\n", 1),
        ("early\n" * 100 + "last\n" * 20, "last\n" * 20, 1),
        ("early\n" * 100 + LONG_LINE * 50, LONG_LINE * 6, 2),
        ("early\n" * 100 + "y" * 2000 + "\n" + "last" * 400 + "\n", "last" * 400 + "\n", 3),
        ("x" * 9000, "x" * 2560, 2),
    ],
)
async def test_of_a_log_the_last_lines_come_that_fit(log: str, tail: str, asked: int) -> None:
    fake = FakeApiServer(calls=[a_kubelets_log(log)] * 3)
    async with serving(fake) as connection:
        found = await ApiServer(connection).log_tail(POD, "engine", previous=True, max_bytes=2560)

    assert (found, len(fake.requests)) == (tail, asked)
    assert fake.requests[0].path == "/api/v1/namespaces/default/pods/chat-0/log"
    assert (fake.requests[0].query["container"], fake.requests[0].query["previous"]) == ("engine", "true")
    assert {request.query["limitBytes"] for request in fake.requests} == {"2560"}


async def test_the_beginning_of_a_log_is_one_request_without_a_number_of_lines() -> None:
    async def read(request: web.Request) -> web.Response:
        return web.Response(text=("first\n" * 100)[: int(request.query["limitBytes"])])

    fake = FakeApiServer(calls=[read])
    async with serving(fake) as connection:
        assert await ApiServer(connection).log_head(POD, "engine", max_bytes=9) == "first\nfir"
    (request,) = fake.requests
    assert dict(request.query) == {"container": "engine", "limitBytes": "9", "timestamps": "true"}


@pytest.mark.parametrize("status", [400, 403, 404])
async def test_a_log_that_may_not_be_read_is_empty(status: int) -> None:
    async with serving(FakeApiServer(calls=[answer(status), answer(status)])) as connection:
        assert await ApiServer(connection).log_tail(POD, "engine", previous=False) == ""
        assert await ApiServer(connection).log_head(POD, "engine") == ""
