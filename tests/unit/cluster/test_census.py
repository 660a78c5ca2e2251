import pytest

from llmservice.cluster.transport.answers import LARGEST_PAGE_BYTES
from llmservice.cluster.watching.census import Counted, Page, census
from llmservice.cluster.watching.listing import Selection
from llmservice.errors import Unavailable
from llmservice.objects.references import Manifest
from tests.unit.cluster.fake_api_server import FakeApiServer, Scene, a_list, answer, serving
from tests.unit.cluster.test_listing import limits, pages_of

SERVICES = Selection(kind="LLMService", metadata_only=True)


def item(name: str) -> Manifest:
    return {"metadata": {"namespace": "ml", "name": name, "uid": f"uid-{name}", "resourceVersion": "5"}}


async def count(*lists: Scene) -> tuple[list[Page], FakeApiServer]:
    fake = FakeApiServer(lists=list(lists))
    async with serving(fake) as connection:
        return [page async for page in census(connection, SERVICES)], fake


async def test_counts_page_by_page_by_metadata_alone() -> None:
    pages, fake = await count(a_list(7, item("one"), more="next"), a_list(7, item("two")))

    assert [page.version for page in pages] == [7, 7]
    assert [page.objects for page in pages] == [
        [Counted("ml", "one", "uid-one", "5")],
        [Counted("ml", "two", "uid-two", "5")],
    ]
    assert [request.query.get("continue") for request in fake.requests] == [None, "next"]
    assert {"PartialObjectMetadataList" in request.headers["Accept"] for request in fake.requests} == {True}


async def test_large_metadata_comes_a_few_at_a_time_and_stops_nobody() -> None:
    """Who may write one resource may write 256 kB of annotations on a hundred."""
    fake = pages_of(*[256_000] * 150)
    async with serving(fake) as connection:
        names = [item.name async for page in census(connection, SERVICES) for item in page.objects]
    assert names == [f"chat-{number}" for number in range(150)]
    assert max(limits(fake)[3:]) * 256_000 < LARGEST_PAGE_BYTES


@pytest.mark.parametrize(
    "page",
    [
        {"items": []},
        {"metadata": {"resourceVersion": "x"}},
        {"metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "no UID"}}]},
    ],
)
async def test_what_no_api_server_says_is_told_as_such(page: Manifest) -> None:
    with pytest.raises(Unavailable, match="cannot be read"):
        await count(answer(200, page))
