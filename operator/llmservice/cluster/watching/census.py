"""A list of names, UIDs and versions only, page by page."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import NamedTuple

from llmservice.cluster.transport.answers import PageSize
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.transport.failures import garbled
from llmservice.cluster.watching.listing import Selection, read_page


class Counted(NamedTuple):
    """One object, as far as it takes to recognise it."""

    namespace: str
    name: str
    uid: str
    version: str


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the objects, and the resource version at which all pages of a list are true."""

    version: int
    objects: list[Counted]


async def census(connection: Connection, selection: Selection) -> AsyncIterator[Page]:
    """All selected objects; the API server keeps the pages for about five minutes (`Expired` after that).

    Raises what `Connection.call` raises.
    """
    token, size = "", PageSize()
    while True:
        answer = await read_page(connection, selection, token, size)
        try:
            metadata = answer["metadata"]
            token = metadata.get("continue", "")
            page = Page(
                int(metadata["resourceVersion"]), [_counted(item["metadata"]) for item in answer["items"] or ()]
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise garbled(f"GET {selection.name}", error) from error
        del answer, metadata  # most of a page is managed fields: its memory serves the next one
        yield page
        if not token:
            return


def _counted(metadata: dict[str, str]) -> Counted:
    return Counted(metadata.get("namespace", ""), metadata["name"], metadata["uid"], metadata["resourceVersion"])
