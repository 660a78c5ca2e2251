"""kopf's own list, on a server whose objects are large."""

import functools
from pathlib import Path

import pytest

from llmservice.controllers.kopf_thread.login import log_in
from tests.unit.cluster.fake_api_server import FakeApiServer, a_list, a_watch, an_event
from tests.unit.cluster.test_listing import limits, pages_of
from tests.unit.controllers.served import served
from tests.unit.controllers.watching import Told, a_service, as_json, discovery, watching
from tests.unit.until import until


async def listed_by_kopf(fake: FakeApiServer, count: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    fake.calls, fake.watches, fake.lists = [as_json(discovery)], [as_json(a_watch())], [*map(as_json, fake.lists)]
    fake.versions = fake.lists
    told = Told()
    async with served(fake.handle, folder) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        async with watching(told, login=functools.partial(log_in, "")):
            await until(lambda: len(told.names) >= count)
    fake.requests[:] = [request for request in fake.requests if "limit" in request.query]
    return told.names


async def test_small_objects_come_a_hundred_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = pages_of(*[100] * 250)
    names = await listed_by_kopf(fake, 250, tmp_path, monkeypatch)
    assert sorted(names) == sorted(f"chat-{number}" for number in range(250))
    assert limits(fake) == [100, 100, 100]


async def test_kopf_is_given_no_annotation_that_nobody_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Told, "observe", lambda told, body, _: told.names.append(str(body)))
    (body,) = await listed_by_kopf(pages_of(200_000), 1, tmp_path, monkeypatch)
    assert "chat-0" in body
    assert len(body) < 1000


async def test_large_objects_come_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = pages_of(*[1_200_000] * 12)
    names = await listed_by_kopf(fake, 12, tmp_path, monkeypatch)
    assert sorted(names) == sorted(f"chat-{number}" for number in range(12))
    assert limits(fake)[:4] == [100, 25, 6, 1]
    assert max(limits(fake)[3:]) <= 3


async def test_kopf_is_told_of_a_change_without_what_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Told, "observe", lambda told, body, deleted: told.names.append(f"{deleted} {body}"))
    metadata = {"annotations": {"example.com/notes": "x" * 250_000}, "labels": {"x" * 63: "y"}}
    bodies = [a_service(f"large-{number}", 6 + number) for number in range(20)]
    large = [{**body, "metadata": {**body["metadata"], **metadata}} for body in bodies]
    events = [an_event("ADDED", body) for body in large] + [an_event("DELETED", large[0])]
    fake = FakeApiServer(calls=[as_json(discovery)], lists=[as_json(a_list(5))], watches=[as_json(a_watch(*events))])
    told = Told()
    async with served(fake.handle, tmp_path) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        async with watching(told, login=functools.partial(log_in, "")):
            await until(lambda: any("large-19" in text for text in told.names))
            await until(lambda: any(text.startswith("True") for text in told.names))
    assert all(len(text) < 1000 for text in told.names)
    assert fake.watched_from() == ["5"]
