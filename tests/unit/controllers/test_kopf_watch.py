"""The real kopf on a fake API server that does what API servers do."""

import asyncio

import pytest

from tests.unit.cluster.fake_api_server import FakeApiServer, a_list, a_status, a_watch, an_event, answer
from tests.unit.controllers.watching import Told, a_service, watching_fake_server
from tests.unit.until import until


async def test_tells_what_is_listed_added_and_deleted() -> None:
    watch = a_watch(an_event("ADDED", a_service("new", 6)), an_event("DELETED", a_service("old", 7)))
    told = Told()
    async with watching_fake_server(FakeApiServer(lists=[a_list(5, a_service("old"))], watches=[watch]), told):
        await until(lambda: len(told.names) == 3)
    assert sorted(told.names) == ["-old", "new", "old"]
    assert told.lists == 1


async def test_runs_as_a_user_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with a numeric user."""

    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 65532")

    monkeypatch.setattr("getpass.getuser", nobody)
    told = Told()
    async with watching_fake_server(FakeApiServer(lists=[a_list(5, a_service("chat"))], watches=[a_watch()]), told):
        await until(lambda: told.names == ["chat"])


async def test_an_error_in_the_stream_is_survived() -> None:
    error = an_event("ERROR", a_status(500, "etcdserver: leader changed"))
    fake = FakeApiServer(lists=[a_list(5), a_list(9, a_service("after"))], watches=[a_watch(error), a_watch()])
    told = Told()
    async with watching_fake_server(fake, told) as watch:
        await until(lambda: told.names == ["after"])
        assert watch.restarts == 1
        await until(lambda: watch.watching)


async def test_the_end_of_a_stream_costs_nothing() -> None:
    one, two = (an_event("ADDED", a_service(name, version)) for name, version in (("one", 6), ("two", 7)))
    watches = [a_watch(one, then="end"), a_watch(two)]
    fake = FakeApiServer(lists=[a_list(5)], watches=watches)
    told = Told()
    async with watching_fake_server(fake, told) as watch:
        await until(lambda: told.names == ["one", "two"])
        assert (watch.restarts, told.lists) == (0, 1)
    assert fake.watched_from()[:2] == ["5", "6"]


async def test_an_expired_version_leads_to_a_list_and_the_application_is_told() -> None:
    """What was deleted meanwhile is never told by kopf: the application has to look."""
    expired = an_event("ERROR", a_status(410, "too old resource version", "Expired"))
    lists = [a_list(5, a_service("stays"), a_service("goes")), a_list(9, a_service("stays", 8))]
    told = Told()
    async with watching_fake_server(FakeApiServer(lists=lists, watches=[a_watch(expired), a_watch()]), told) as watch:
        await until(lambda: told.lists == 2 and told.names == ["stays", "goes", "stays"])
        assert watch.restarts == 0


async def test_a_crd_that_goes_and_comes_back_is_watched_again() -> None:
    answers = [True, False, False, True]
    fake = FakeApiServer(
        lists=[a_list(5), a_list(9, a_service("after"))], watches=[answer(404, a_status(404, "not found")), a_watch()]
    )

    async def served() -> bool:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    told = Told()
    async with watching_fake_server(fake, told, served) as watch:
        await until(lambda: told.names == ["after"])
        assert (watch.restarts, told.lists, answers) == (1, 2, [True])


async def test_a_watch_that_is_lost_in_silence_is_found() -> None:
    """What the inactivity timeout does on a bad day: the task of the watcher ends as cancelled, nobody says a word."""
    fake = FakeApiServer(lists=[a_list(5), a_list(9, a_service("after"))], watches=[a_watch()])
    told = Told()
    async with watching_fake_server(fake, told) as watch:
        await until(lambda: watch.watching and len(fake.watched_from()) == 1)
        watch._loop.call_soon_threadsafe(cancel_watchers, watch._loop)
        await until(lambda: told.names == ["after"])
        assert watch.restarts == 1


async def test_silence_of_refusals_is_ridden_out() -> None:
    """403 as long as a role is replaced, then 503: kopf tries again without an end."""
    lists = [answer(403, a_status(403, "forbidden")), answer(503, a_status(503)), a_list(5, a_service("after"))]
    told = Told()
    async with watching_fake_server(FakeApiServer(lists=lists, watches=[a_watch()]), told):
        await until(lambda: told.names == ["after"])


def cancel_watchers(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        if task.get_name().startswith("watcher for "):
            task.cancel()


async def test_begins_anew_on_demand_and_tells_nothing_more_of_what_it_knew() -> None:
    lists = [a_list(50, a_service("old", 50)), a_list(9, a_service("restored", 9))]
    fake = FakeApiServer(lists=lists, watches=[a_watch(an_event("ADDED", a_service("late", 60)))])
    told = Told()
    async with watching_fake_server(fake, told) as watch:
        await until(lambda: told.names == ["old", "late"])
        fake.watches[:] = [a_watch()]
        watch.begin_anew()
        watch.begin_anew()
        await until(lambda: "restored" in told.names)
        await until(lambda: watch.watching)
    assert told.names == ["old", "late", "restored"]
    assert fake.watched_from() == ["50", "9"]
