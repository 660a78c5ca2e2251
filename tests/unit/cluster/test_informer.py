import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection
from llmservice.objects.references import Manifest, Ref
from tests.unit.cluster.fake_api_server import (
    FakeApiServer,
    a_bookmark,
    a_list,
    a_status,
    a_watch,
    an_event,
    answer,
    serving,
)
from tests.unit.cluster.objects import a_deployment
from tests.unit.until import until


@asynccontextmanager
async def informing(fake: FakeApiServer, *, silence_seconds: float = 30.0, **selection: Any) -> AsyncIterator[Informer]:
    """An informer at work on the fake server; it hardly pauses, and a test never hangs with it."""
    async with serving(fake) as connection:
        informer = Informer(
            connection=connection,
            cache=ObjectCache(),
            selection=Selection(kind="Deployment", **selection),
            silence_seconds=silence_seconds,
            pause_seconds=0.001,
        )
        task = asyncio.create_task(informer.run())
        try:
            async with asyncio.timeout(10):
                yield informer
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def names(informer: Informer) -> set[str]:
    return {live["metadata"]["name"] for live in informer.cache.of_kind("Deployment")}


async def test_lists_and_then_watches_from_there() -> None:
    fake = FakeApiServer(lists=[a_list(7, a_deployment("one"))], watches=[a_watch(a_bookmark(8))])
    async with informing(fake, label_selector="llmservice.dev/name") as informer:
        await informer.synced.wait()
        await until(fake.watched_from)

        assert names(informer) == {"one"}
        watch = fake.requests[-1]
        assert watch.path == "/apis/apps/v1/deployments"
        assert watch.query["resourceVersion"] == "7"
        assert watch.query["allowWatchBookmarks"] == "true"
        assert watch.query["labelSelector"] == "llmservice.dev/name"
        assert 240 <= int(watch.query["timeoutSeconds"]) <= 300


async def test_stays_in_its_namespace() -> None:
    fake = FakeApiServer(lists=[a_list(7)], watches=[a_watch()])
    async with informing(fake, namespace="team-a"):
        await until(fake.watched_from)

    assert {request.path for request in fake.requests} == {"/apis/apps/v1/namespaces/team-a/deployments"}


async def test_reads_a_list_page_by_page() -> None:
    pages = [a_list(7, a_deployment("one"), more="next"), a_list(7, a_deployment("two"))]
    fake = FakeApiServer(lists=pages, watches=[a_watch()])
    async with informing(fake) as informer:
        await informer.synced.wait()

        assert names(informer) == {"one", "two"}
        assert [request.query.get("continue") for request in fake.requests[:2]] == [None, "next"]
        assert fake.requests[0].query["limit"] == "100"


async def test_follows_what_the_watch_tells() -> None:
    events = [
        an_event("ADDED", a_deployment("new", version=8)),
        an_event("MODIFIED", a_deployment("one", version=9, service="chat")),
        an_event("DELETED", a_deployment("two", version=10)),
    ]
    fake = FakeApiServer(lists=[a_list(7, a_deployment("one"), a_deployment("two"))], watches=[a_watch(*events)])
    async with informing(fake) as informer:
        await until(lambda: names(informer) == {"one", "new"})

        assert len(informer.cache.of_service("Deployment", "default", "chat")) == 1


async def test_resumes_after_the_end_of_a_watch_where_it_ended() -> None:
    first = a_watch(an_event("ADDED", a_deployment("new", version=8)), a_bookmark(12), then="end")
    fake = FakeApiServer(lists=[a_list(7)], watches=[first, a_watch()])
    async with informing(fake) as informer:
        await until(lambda: len(fake.watched_from()) == 2)

        assert fake.watched_from() == ["7", "12"]
        assert fake.listed() == 1
        assert informer.restarts == {"closed": 1}


async def test_resumes_when_the_connection_is_cut() -> None:
    first = a_watch(an_event("ADDED", a_deployment("new", version=8)), b'{"type":"ADD', then="cut")
    fake = FakeApiServer(lists=[a_list(7)], watches=[first, a_watch()])
    async with informing(fake) as informer:
        await until(lambda: len(fake.watched_from()) == 2)

        assert fake.watched_from() == ["7", "8"]
        assert informer.restarts == {"failed": 1}


async def test_resumes_when_the_watch_falls_silent(caplog: pytest.LogCaptureFixture) -> None:
    fake = FakeApiServer(lists=[a_list(7)], watches=[a_watch(a_bookmark(9)), a_watch()])
    async with informing(fake, silence_seconds=0.1) as informer:
        await until(lambda: len(fake.watched_from()) >= 2)

        assert fake.watched_from()[:2] == ["7", "9"]
        assert fake.listed() == 1
        assert informer.restarts["silent"] >= 1
        assert caplog.records == [], "where nothing changes nothing is heard: no warning"


@pytest.mark.parametrize(
    "line",
    [
        an_event("ERROR", a_status(500, "etcdserver: request timed out")),
        an_event("ERROR", a_status(504, "timed out")),
        b"<html>Bad gateway</html>\n",
        b'{"type":"ADDED"}\n',
        b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"8"}}}\n',
        b'{"type":"ADDED","object":{"metadata":{"name":"x","resourceVersion":"eight"}}}\n',
        b'{"type":"ADDED","object":null}\n',
    ],
)
async def test_resumes_after_an_error_or_nonsense(line: bytes) -> None:
    fake = FakeApiServer(lists=[a_list(7)], watches=[a_watch(a_bookmark(9), line), a_watch()])
    async with informing(fake) as informer:
        await until(lambda: len(fake.watched_from()) == 2)

        assert fake.watched_from() == ["7", "9"]
        assert fake.listed() == 1
        assert informer.restarts == {"failed": 1}


@pytest.mark.parametrize(
    "scene",
    [
        a_watch(an_event("ERROR", a_status(410, "too old resource version", "Expired"))),
        answer(410, a_status(410, "too old resource version", "Expired")),
    ],
    ids=["event", "status"],
)
async def test_lists_again_when_its_version_expired(scene: Any) -> None:
    fake = FakeApiServer(lists=[a_list(7), a_list(20)], watches=[scene, a_watch()])
    async with informing(fake) as informer:
        await until(lambda: len(fake.watched_from()) == 2)

        assert fake.watched_from() == ["7", "20"]
        assert informer.restarts == {"expired": 1}


async def test_notices_what_was_deleted_before_the_second_list() -> None:
    lists = [a_list(7, a_deployment("one"), a_deployment("two")), a_list(20, a_deployment("two"))]
    fake = FakeApiServer(lists=lists, watches=[answer(410, a_status(410)), a_watch()])
    gone: list[str] = []

    def listen(before: Manifest | None, after: Manifest | None) -> None:
        if before is not None and after is None:
            gone.append(before["metadata"]["name"])

    async with informing(fake) as informer:
        informer.cache.listen(listen)
        await until(lambda: gone)

    assert gone == ["one"]


async def test_lists_again_when_its_version_leads_nowhere() -> None:
    fake = FakeApiServer(lists=[a_list(7), a_list(20)], watches=[answer(500)] * 3 + [a_watch()])
    async with informing(fake):
        await until(lambda: len(fake.watched_from()) == 4)

        assert fake.watched_from() == ["7", "7", "7", "20"]


async def test_lists_again_when_watches_stay_mute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmservice.cluster.watching.informer._HEALTHY_SECONDS", 0.0)
    fake = FakeApiServer(lists=[a_list(7), a_list(20)], watches=[a_watch()])
    async with informing(fake, silence_seconds=0.05):
        await until(lambda: "20" in fake.watched_from())

        assert fake.watched_from()[:4] == ["7", "7", "7", "7"]


async def test_starts_over_when_pages_expire() -> None:
    pages = [a_list(7, a_deployment("one"), more="next"), answer(410, a_status(410)), a_list(9, a_deployment("two"))]
    fake = FakeApiServer(lists=pages, watches=[a_watch()])
    async with informing(fake) as informer:
        await informer.synced.wait()

        assert names(informer) == {"two"}


async def test_is_synced_only_after_a_whole_list() -> None:
    failing = [answer(503), answer(403, a_status(403)), answer(200, "<html>"), answer(200, {"items": []})]
    fake = FakeApiServer(lists=[*failing, a_list(7)], watches=[a_watch()])
    async with informing(fake) as informer:
        await until(lambda: fake.listed() >= 4)
        synced_early = informer.synced.is_set()
        await informer.synced.wait()

        assert not synced_early
        assert informer.restarts["failed"] >= 4


async def test_a_refusal_is_an_answer_that_is_told_once_until_it_is_taken_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "llmservice")
    refusal = answer(403, a_status(403, "deployments is forbidden", "Forbidden"))
    fake = FakeApiServer(lists=[refusal] * 4, watches=[a_watch()])
    async with informing(fake, namespace="gone") as informer:
        await informer.answered.wait()
        assert (informer.refusal, informer.synced.is_set()) == ("deployments is forbidden", False)
        await until(lambda: fake.listed() > 3)
        fake.lists[:] = [a_list(7)]
        await informer.synced.wait()
        assert informer.refusal == ""
    assert [record.getMessage() for record in caplog.records if record.name.startswith("llmservice")] == [
        "Deployment/gone: refused until further notice: deployments is forbidden",
        "Deployment/gone: no longer refused",
    ]


async def test_a_watch_that_opens_takes_a_refusal_back() -> None:
    refusal = answer(403, a_status(403, "pods is forbidden", "Forbidden"))
    fake = FakeApiServer(lists=[a_list(7)], watches=[refusal, a_watch()])
    async with informing(fake) as informer:
        await until(lambda: informer.refusal)
        await until(lambda: not informer.refusal)
        assert fake.listed() == 1


async def test_takes_an_object_of_megabytes() -> None:
    big = a_deployment("big", version=8, annotations={"a": "x" * 3_000_000})
    fake = FakeApiServer(lists=[a_list(7)], watches=[a_watch(an_event("ADDED", big))])
    async with informing(fake) as informer:
        await until(lambda: names(informer) == {"big"})


async def test_a_bookmark_is_a_sign_of_life() -> None:
    fake = FakeApiServer(lists=[a_list(7)], watches=[a_watch(a_bookmark(8))])
    async with informing(fake) as informer:
        await informer.synced.wait()
        after_list = informer.last_heard
        await until(lambda: informer.last_heard > after_list)


async def test_a_failing_listener_does_not_end_it() -> None:
    events = [an_event("ADDED", a_deployment("new", version=8))]
    fake = FakeApiServer(lists=[a_list(7), a_list(9, a_deployment("next", version=9))], watches=[a_watch(*events)])

    def listen(_: Manifest | None, after: Manifest | None) -> None:
        if after is not None and after["metadata"]["name"] == "new":
            raise RuntimeError("a defect")

    async with informing(fake) as informer:
        informer.cache.listen(listen)
        await until(lambda: "next" in names(informer))

        assert informer.restarts["defect"] == 1


@pytest.mark.parametrize(("wish", "pause"), [("1", 1.0), ("86400", 30.0)])
async def test_waits_as_long_as_the_server_asks_within_reason(wish: str, pause: float) -> None:
    fake = FakeApiServer(lists=[answer(429, Retry_After=wish)], watches=[a_watch()])
    async with serving(fake) as connection:
        informer = Informer(connection=connection, cache=ObjectCache(), selection=Selection(kind="Deployment"))

        assert await informer._once() == ("failed", pause)


def test_pauses_grow_to_eight_seconds_and_no_further() -> None:
    informer = Informer(connection=None, cache=ObjectCache(), selection=Selection(kind="Pod"), chance=lambda: 1.0)  # type: ignore[arg-type]

    assert [informer._pause(failures) for failures in (0, 1, 2, 6, 7, 100)] == [0.1, 0.2, 0.4, 6.4, 8.0, 8.0]


async def test_asks_for_metadata_alone_and_names_the_kind() -> None:
    partial = {**a_deployment("one"), "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    fake = FakeApiServer(lists=[a_list(7, partial)], watches=[a_watch()])
    async with informing(fake, metadata_only=True) as informer:
        await until(fake.watched_from)

        assert informer.cache.get(Ref("Deployment", "default", "one")) is not None
        accepted = [request.headers["Accept"] for request in fake.requests[:2]]
        assert accepted == [
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        ]


async def test_a_list_on_demand_finds_a_deletion_the_watch_lost() -> None:
    fake = FakeApiServer(lists=[a_list(7, a_deployment("one")), a_list(20)], watches=[a_watch()])
    async with informing(fake) as informer:
        await informer.synced.wait()
        await informer.relist()

        assert names(informer) == set()


async def test_lists_anew_when_the_versions_went_back(caplog: pytest.LogCaptureFixture) -> None:
    """etcd was restored: a watch from the old version would stay open and mute."""
    first = a_watch(an_event("ADDED", a_deployment("lost", version=30)), a_bookmark(40), then="cut")
    lists = [a_list(7, a_deployment("one", version=6)), a_list(20, a_deployment("one", version=5))]
    fake = FakeApiServer(lists=lists, watches=[first, a_watch()], versions=[a_list(20)])
    async with informing(fake) as informer:
        await until(lambda: len(fake.watched_from()) == 2)

        assert fake.watched_from() == ["7", "20"]
        assert names(informer) == {"one"}
        assert informer.history.is_settled()
        assert informer.history.epoch == 1
    assert [record.getMessage() for record in caplog.records if "version 20, and was at 40" in record.getMessage()]


async def test_a_list_older_than_what_was_heard_is_one_of_another_history() -> None:
    lists = [a_list(7, a_deployment("one", version=6)), a_list(3, a_deployment("one", version=2))]
    fake = FakeApiServer(lists=lists, watches=[answer(410, a_status(410)), a_watch()], versions=[answer(503)])
    async with informing(fake) as informer:
        await until(lambda: len(fake.watched_from()) == 2)

        live = informer.cache.get(Ref("Deployment", "default", "one"))
        assert live is not None
        assert live["metadata"]["resourceVersion"] == "2"
        assert fake.watched_from() == ["7", "3"]


async def test_another_history_ends_a_watch_that_hears_nothing_of_it() -> None:
    fake = FakeApiServer(lists=[a_list(7, a_deployment("lost")), a_list(3)], watches=[a_watch()])
    async with informing(fake) as informer:
        await until(fake.watched_from)
        await asyncio.sleep(0.05)
        informer.history.went_back("Pod", 9, 3)
        await until(lambda: len(fake.watched_from()) == 2)

        assert names(informer) == set()
        assert informer.restarts == {"history": 1}


async def test_a_watch_that_broke_costs_one_question_more_and_one_that_timed_out_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake = FakeApiServer(lists=[a_list(7)], watches=[a_watch(then="cut")] * 2 + [a_watch()])
    async with informing(fake):
        await until(lambda: len(fake.watched_from()) == 3)
    assert fake.asked() == 2

    monkeypatch.setattr("llmservice.cluster.watching.informer._WATCH_SECONDS", 1)
    fake = FakeApiServer(lists=[a_list(7)], watches=[a_watch(then="end")] * 2 + [a_watch()])
    async with informing(fake):
        await until(lambda: len(fake.watched_from()) == 3)
    assert fake.asked() == 0


async def test_nothing_counts_as_settled_until_a_broken_watch_has_asked() -> None:
    hold = asyncio.Event()

    async def late(request: Any) -> Any:
        await hold.wait()
        return await a_list(9)(request)

    fake = FakeApiServer(lists=[a_list(7)], watches=[a_watch(then="cut"), a_watch()], versions=[late])
    async with informing(fake) as informer:
        await until(fake.asked)
        assert not informer.history.is_settled()
        hold.set()
        await informer.history.settled()


async def test_a_refusal_leaves_nothing_in_doubt() -> None:
    refusal = answer(403, a_status(403, "deployments is forbidden", "Forbidden"))
    fake = FakeApiServer(lists=[a_list(7)], watches=[a_watch(then="cut"), refusal], versions=[refusal])
    async with informing(fake) as informer:
        await until(lambda: informer.refusal)
        assert informer.history.is_settled()


async def test_another_history_ends_a_watch_that_is_just_being_opened() -> None:
    """It would be opened at a version of the future, and stay mute."""
    opening = asyncio.Event()

    async def late(request: Any) -> Any:
        opening.set()
        await asyncio.sleep(0.2)
        return await a_watch()(request)

    fake = FakeApiServer(lists=[a_list(7), a_list(3)], watches=[late, a_watch()])
    async with informing(fake) as informer:
        await opening.wait()
        informer.history.members.add("Deployment")
        informer.history.went_back("Pod", 9, 3)
        await informer.history.settled()

        assert informer.cache.newest("Deployment") == 3


def a_route(name: str) -> Manifest:
    return {**a_deployment(name), "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute"}


@asynccontextmanager
async def informing_of_routes(fake: FakeApiServer) -> AsyncIterator[Informer]:
    """An informer of a kind that clusters may lack, which asks for it again at once."""
    async with informing(fake) as informer:
        informer.selection, informer.absent_seconds = Selection(kind="HTTPRoute"), 0.001
        yield informer


@pytest.mark.parametrize("status", [404, 403])
async def test_an_optional_kind_may_be_absent_and_come_later(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    refusal = answer(status, a_status(status, "no such thing", "NotFound" if status == 404 else "Forbidden"))
    fake = FakeApiServer(lists=[refusal] * 5, watches=[a_watch()])
    came = list[tuple[str, str]]()
    async with informing_of_routes(fake) as informer:
        informer.optional.listen(lambda kind, namespace: came.append((kind, namespace)))
        await informer.synced.wait()
        assert (informer.refusal, [*informer.optional.absent_in("team-a")]) == ("", ["HTTPRoute"])
        fake.lists.append(a_list(7, a_route("one")))
        await until(fake.watched_from)

        assert came == [("HTTPRoute", "")]
        assert not informer.optional.absent_in("team-a")
        assert [live["metadata"]["name"] for live in informer.cache.of_kind("HTTPRoute")] == ["one"]
    assert [line for line in caplog.messages if line.startswith("HTTPRoute")] == [
        "HTTPRoute cannot be used until further notice: no such thing",
        "HTTPRoute can be used from now on",
    ]


async def test_an_optional_kind_that_goes_takes_its_objects_along() -> None:
    gone = answer(404, a_status(404, "no such thing", "NotFound"))
    fake = FakeApiServer(
        lists=[a_list(7, a_route("one")), *[gone] * 4], watches=[a_watch(then="cut")], versions=[gone] * 9
    )
    async with informing_of_routes(fake) as informer:
        await until(lambda: informer.cache.of_kind("HTTPRoute"))
        await until(lambda: informer.optional.absent_in(""))

        assert informer.cache.of_kind("HTTPRoute") == ()
        assert informer.history.is_settled()


async def test_nothing_waits_for_an_absent_kind_after_etcd_was_restored() -> None:
    gone = answer(404, a_status(404, "no such thing", "NotFound"))
    fake = FakeApiServer(lists=[gone])
    async with informing_of_routes(fake) as informer:
        informer.absent_seconds = 60.0
        informer.history.members.add("HTTPRoute")
        await informer.synced.wait()
        informer.history.went_back("Deployment", 9, 7)

        assert informer.history.is_settled()


async def test_an_optional_kind_that_an_api_server_does_not_serve_yet_is_not_absent() -> None:
    not_yet = answer(404, a_status(404, "no such thing", "NotFound"))
    fake = FakeApiServer(lists=[not_yet, not_yet, a_list(7, a_route("one"))], watches=[a_watch()])
    async with informing_of_routes(fake) as informer:
        came = list[str]()
        informer.optional.listen(lambda kind, _: came.append(kind))
        await informer.synced.wait()
        assert informer.cache.of_kind("HTTPRoute")
        assert not came
