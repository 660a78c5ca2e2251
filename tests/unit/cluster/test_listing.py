"""Lists in pages by bytes: many small objects at once, large ones a few at a time, and none too large to be read."""

import orjson
import pytest
from aiohttp import web

from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.caching.trimming import trimmed
from llmservice.cluster.transport.answers import LARGEST_ANSWER_BYTES, LARGEST_PAGE_BYTES, PageSize
from llmservice.cluster.watching.listing import Selection, list_all
from llmservice.errors import AnswerTooLarge, Unavailable
from llmservice.objects.references import Manifest, Ref
from tests.unit.cluster.fake_api_server import FakeApiServer, answer, serving

SERVICES = Selection(kind="LLMService")


def a_service(number: int, size: int) -> Manifest:
    """About so many bytes, nearly all of them an annotation that nobody reads."""
    names = {"name": f"chat-{number}", "namespace": "ml", "uid": f"uid-{number}", "resourceVersion": "5"}
    metadata = {**names, "annotations": {"example.com/notes": "x" * size}}
    return {"metadata": metadata, "spec": {"engine": "vllm"}}


def pages_of(*sizes: int) -> FakeApiServer:
    """Objects of these sizes, in pages as large as they are asked for; `sent` is the bytes of each."""

    async def page(request: web.Request) -> web.StreamResponse:
        begin, limit = int(request.query.get("continue", 0)), int(request.query["limit"])
        items = [a_service(number, sizes[number]) for number in range(begin, min(begin + limit, len(sizes)))]
        more = {"continue": str(begin + limit)} if begin + limit < len(sizes) else {}
        body = orjson.dumps({"metadata": {"resourceVersion": "7", **more}, "items": items})
        return web.Response(body=body)

    return FakeApiServer(lists=[page], versions=[page])


async def listed(fake: FakeApiServer) -> list[str]:
    async with serving(fake) as connection:
        return [item["metadata"]["name"] for item in (await list_all(connection, SERVICES, trimmed)).items]


def limits(fake: FakeApiServer) -> list[int]:
    return [int(request.query["limit"]) for request in fake.requests]


async def test_small_objects_come_a_hundred_at_once() -> None:
    fake = pages_of(*[100] * 250)
    assert await listed(fake) == [f"chat-{number}" for number in range(250)]
    assert limits(fake) == [100, 100, 100]


async def test_large_objects_come_a_few_at_a_time_and_none_is_missed_or_comes_twice() -> None:
    fake = pages_of(*[400_000] * 60)
    assert await listed(fake) == [f"chat-{number}" for number in range(60)]
    assert limits(fake)[:3] == [100, 25, 6]
    assert max(limits(fake)[3:]) * 400_000 < LARGEST_PAGE_BYTES


async def test_after_large_objects_pages_grow_again() -> None:
    fake = pages_of(*[1_500_000] * 4, *[100] * 400)
    assert len(await listed(fake)) == 404
    assert limits(fake)[-1] == 100


async def test_one_object_of_any_size_that_an_api_server_sends_is_read() -> None:
    fake = pages_of(100, LARGEST_PAGE_BYTES * 2, 100)
    assert await listed(fake) == ["chat-0", "chat-1", "chat-2"]


async def test_one_object_above_every_bound_is_told() -> None:
    fake = pages_of(LARGEST_ANSWER_BYTES + 1)
    with pytest.raises(Unavailable, match="more than 16 MiB and was not read"):
        await listed(fake)


async def test_an_answer_above_the_bound_is_told_by_name() -> None:
    fake = FakeApiServer(calls=[answer(200, "x" * (LARGEST_ANSWER_BYTES + 1))])
    async with serving(fake) as connection:
        with pytest.raises(AnswerTooLarge) as caught:
            await ApiServer(connection).get(Ref("Service", "ml", "chat"))
    assert caught.value.reason == "AnswerTooLarge"


def test_a_page_has_four_mebibytes_at_most_unless_it_is_one_object() -> None:
    size, bounds = PageSize(), []
    while True:
        bounds.append((size.objects, size.at_most))
        if not size.was_too_large():
            break
    assert bounds == [(100, 4 * 2**20), (25, 4 * 2**20), (6, 4 * 2**20), (1, 16 * 2**20)]
