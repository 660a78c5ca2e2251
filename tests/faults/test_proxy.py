"""The proxy itself, before a server of a few lines: what the faults mean, and what the journal has of them."""

import asyncio
import json
import time
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.faults.calls import call_of
from tests.faults.proxy import FaultProxy
from tests.faults.rules import Action, Rule

CHAT = "/api/v1/namespaces/ml/services/chat"
SERVICES = "/api/v1/services"
EVENTS = [{"type": "ADDED", "object": {"metadata": {"namespace": "ml", "name": name}}} for name in ("a", "b", "c")]


class Upstream:
    """An API server that accepts every write, has a new version in each list and tells three events in each watch."""

    def __init__(self) -> None:
        self.writes: list[str] = []
        self.lists = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            return web.Response(text="".join(json.dumps(event) + "\n" for event in EVENTS))
        if request.method == "GET":
            self.lists += 1
            return web.json_response({"metadata": {"resourceVersion": str(self.lists)}})
        self.writes.append(request.method)
        return web.json_response({}, status=201)


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


@pytest.fixture
async def proxy(upstream: Upstream) -> AsyncIterator[FaultProxy]:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", upstream.handle)
    async with TestServer(application) as server:
        with FaultProxy(upstream=str(server.make_url("")).rstrip("/")) as proxy:
            yield proxy


@pytest.fixture
async def session(proxy: FaultProxy) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(proxy.url) as session:
        yield session


async def write(session: aiohttp.ClientSession, **body: object) -> int:
    async with session.patch(CHAT, json=body) as answer:
        return answer.status


async def watched(session: aiohttp.ClientSession) -> list[str]:
    """What a watch tells: names, `?` for no JSON, codes of errors."""
    told = []
    async with session.get(SERVICES, params={"watch": "true"}) as answer:
        async for line in answer.content:
            try:
                body = json.loads(line)["object"]
                told.append(body["metadata"].get("name") or str(body["code"]))
            except ValueError:
                told.append("?")
    return told


async def version(session: aiohttp.ClientSession) -> str:
    async with session.get(SERVICES) as answer:
        return str((await answer.json())["metadata"]["resourceVersion"])


def test_a_request_is_a_call_in_the_words_of_kubernetes() -> None:
    body = json.dumps({"metadata": {"uid": "one", "ownerReferences": [{"uid": "two"}]}}).encode()

    call = call_of("PATCH", "/apis/apps/v1/namespaces/ml/deployments/chat/scale?force=true", body)

    assert (call.verb, call.resource, call.subresource, call.namespace, call.name) == (
        *("patch", "deployments", "scale"),
        *("ml", "chat"),
    )
    assert (call.uid, call.owner, call.is_write) == ("one", "two", True)


@pytest.mark.parametrize(
    ("target", "verb"),
    [(SERVICES, "list"), (f"{SERVICES}?watch=true", "watch"), (CHAT, "get"), ("/api/v1/namespaces/ml", "get")],
)
def test_reading_is_one_of_three_verbs(target: str, verb: str) -> None:
    assert call_of("GET", target).verb == verb


def test_the_precondition_of_a_delete_is_its_uid() -> None:
    assert call_of("DELETE", CHAT, b'{"preconditions": {"uid": "one"}}').uid == "one"


async def test_what_goes_right_goes_through_and_into_the_journal(
    proxy: FaultProxy, session: aiohttp.ClientSession
) -> None:
    assert await write(session, metadata={"uid": "one"}) == 201
    assert [(str(entry.call), entry.call.uid, entry.status) for entry in proxy.journal] == [
        ("patch services chat", "one", 201)
    ]
    assert await watched(session) == ["a", "b", "c"]


async def test_a_rule_strikes_from_the_nth_call_on_and_so_many_times(
    proxy: FaultProxy, session: aiohttp.ClientSession
) -> None:
    rule = proxy.add(Rule(action=Action.STATUS, code=503, verb="patch", nth=2, times=2))

    assert [await write(session) for _ in range(4)] == [201, 503, 503, 201]
    assert rule.hits == 2


@pytest.mark.parametrize("other", [{"verb": "delete"}, {"resource": "pods"}, {"subresource": "status"}])
async def test_a_rule_leaves_other_calls_alone(
    proxy: FaultProxy, session: aiohttp.ClientSession, other: dict[str, str]
) -> None:
    proxy.add(Rule(action=Action.STATUS, code=503, **other))  # type: ignore[arg-type]

    assert await write(session) == 201


@pytest.mark.parametrize(("scope", "status"), [("ml", 500), ("elsewhere", 201)])
async def test_only_calls_in_scope_go_wrong(
    proxy: FaultProxy, session: aiohttp.ClientSession, scope: str, status: int
) -> None:
    proxy.scope = scope
    proxy.add(Rule(action=Action.STATUS, code=500))

    assert await write(session) == status


@pytest.mark.parametrize(("action", "applied"), [(Action.CUT_BEFORE, []), (Action.CUT_AFTER, ["PATCH"])])
async def test_a_connection_is_cut_before_or_after_the_write(
    proxy: FaultProxy, session: aiohttp.ClientSession, upstream: Upstream, action: Action, applied: list[str]
) -> None:
    proxy.add(Rule(action=action, writes=True))

    with pytest.raises(aiohttp.ClientError):
        await write(session)

    assert upstream.writes == applied
    assert [entry.status for entry in proxy.journal if entry.accepted] == [201] * len(applied)


async def test_a_call_that_hangs_breaks_when_all_is_well_again(
    proxy: FaultProxy, session: aiohttp.ClientSession, upstream: Upstream
) -> None:
    proxy.add(Rule(action=Action.HANG))
    hanging = asyncio.create_task(write(session))
    await asyncio.sleep(0.2)
    assert not hanging.done()

    proxy.heal()

    with pytest.raises(aiohttp.ClientError):
        await hanging
    assert upstream.writes == []


async def test_a_late_call_is_done_and_its_fault_ends_then(proxy: FaultProxy, session: aiohttp.ClientSession) -> None:
    proxy.add(Rule(action=Action.DELAY, seconds=0.2))
    began = time.monotonic()

    assert await write(session) == 201

    assert proxy.struck_at > began


async def test_nobody_is_let_in_during_an_outage(proxy: FaultProxy, session: aiohttp.ClientSession) -> None:
    assert await write(session) == 201
    proxy.fail()
    with pytest.raises(aiohttp.ClientError):
        await write(session)
    async with aiohttp.ClientSession(proxy.url) as another:
        with pytest.raises(aiohttp.ClientConnectorError):
            await write(another)

    proxy.heal()

    assert await write(session) == 201


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (Rule(action=Action.DROP, nth=2), ["a", "c"]),
        (Rule(action=Action.DUPLICATE, nth=2), ["a", "b", "b", "c"]),
        (Rule(action=Action.REORDER, nth=2), ["a", "c", "b"]),
        (Rule(action=Action.REORDER, times=0), ["b", "a", "c"]),
        (Rule(action=Action.GARBLE, nth=2), ["a", "?", "b", "c"]),
        (Rule(action=Action.EOF, nth=2), ["a", "b"]),
        (Rule(action=Action.ERROR, nth=2, code=410), ["a", "410"]),
        (Rule(action=Action.DROP, event="DELETED"), ["a", "b", "c"]),
    ],
    ids=lambda value: value.action.value if isinstance(value, Rule) else "",
)
async def test_events_go_wrong(proxy: FaultProxy, session: aiohttp.ClientSession, rule: Rule, told: list[str]) -> None:
    proxy.add(rule)

    assert await watched(session) == told


async def test_a_half_open_watch_says_nothing_until_all_is_well_again(
    proxy: FaultProxy, session: aiohttp.ClientSession
) -> None:
    proxy.add(Rule(action=Action.HALF_OPEN, nth=2))
    watching = asyncio.create_task(watched(session))
    await asyncio.sleep(0.2)
    assert not watching.done()

    proxy.heal()

    assert await watching == ["a"]


async def test_a_frozen_view_tells_what_it_told_before(proxy: FaultProxy, session: aiohttp.ClientSession) -> None:
    assert await version(session) == "1"
    proxy.add(Rule(action=Action.FREEZE))
    assert await version(session) == "1"
    watching = asyncio.create_task(watched(session))
    await asyncio.sleep(0.2)
    assert not watching.done()

    proxy.heal()

    assert await watching == ["a", "b", "c"]
    assert await version(session) == "2"


async def test_a_watcher_that_went_away_uses_up_no_fault(proxy: FaultProxy, session: aiohttp.ClientSession) -> None:
    frozen = proxy.add(Rule(action=Action.FREEZE))
    gone = asyncio.create_task(watched(session))
    await asyncio.sleep(0.1)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    await asyncio.sleep(0.1)
    rule = Rule(action=Action.DROP)
    proxy.rules = [rule]
    await asyncio.sleep(0.1)

    assert (rule.hits, frozen.hits) == (0, 0)
    assert await watched(session) == ["b", "c"]
