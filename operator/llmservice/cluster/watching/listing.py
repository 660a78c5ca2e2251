"""Lists of objects, page by page, and what a list tells without keeping its objects."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from llmservice.cluster.kinds import KINDS
from llmservice.cluster.transport.answers import PageSize
from llmservice.cluster.transport.connection import Connection, json_object
from llmservice.cluster.transport.failures import garbled
from llmservice.errors import AnswerTooLarge
from llmservice.objects.references import Manifest

_METADATA = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which objects: a kind, a namespace (empty: all), selectors, and whether their metadata is enough."""

    kind: str
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""
    metadata_only: bool = False

    @property
    def name(self) -> str:
        """For log lines: the kind, and the namespace when there is one."""
        return f"{self.kind}/{self.namespace}" if self.namespace else self.kind

    @property
    def is_optional(self) -> bool:
        """Whether the cluster may lack the kind."""
        return KINDS[self.kind].optional

    def target(self, **query: str) -> str:
        """Path and query of the collection."""
        selectors = {"labelSelector": self.label_selector, "fieldSelector": self.field_selector}
        text = urlencode({key: value for key, value in (selectors | query).items() if value})
        path = KINDS[self.kind].collection(self.namespace)
        return f"{path}?{text}" if text else path

    def accept(self, *, as_list: bool) -> str:
        """The Accept header; empty for the usual one."""
        return _METADATA.format("List" if as_list else "") if self.metadata_only else ""

    def named(self, item: Manifest) -> Manifest:
        """The item with apiVersion and kind: items of a list come without, metadata comes as another kind."""
        kind = KINDS[self.kind]
        return {**item, "apiVersion": kind.api_version, "kind": kind.kind}


@dataclass(frozen=True, slots=True)
class Listing:
    """Objects, and the resource version of the moment they were all true."""

    items: list[Manifest]
    version: str


async def list_all(
    connection: Connection, selection: Selection, keep: Callable[[Manifest], Manifest] = lambda item: item
) -> Listing:
    """Every selected object; `keep` decides what of each outlives its page, which is a few MiB at most.

    Raises `Expired` when reading takes longer than the API server keeps the pages (about five minutes).
    """
    items: list[Manifest] = []
    token, size = "", PageSize()
    while True:
        page = await read_page(connection, selection, token, size)
        try:
            items.extend(keep(selection.named(item)) for item in page.get("items") or ())
            metadata = page["metadata"]
            token, version = metadata.get("continue", ""), str(metadata["resourceVersion"])
        except (KeyError, TypeError, AttributeError) as error:
            raise garbled(f"GET {selection.name}", error) from error
        if not token:
            return Listing(items, version)


async def read_page(connection: Connection, selection: Selection, token: str, size: PageSize) -> dict[str, Any]:
    """The page that a token leads to; asked for anew, with fewer objects, as long as it is too large.

    `size` learns from each page how many to ask for next.
    """
    while True:
        target = selection.target(limit=str(size.objects), **{"continue": token})
        try:
            answer = await connection.call_raw(
                "GET", target, accept=selection.accept(as_list=True), at_most=size.at_most
            )
        except AnswerTooLarge:
            if not size.was_too_large():
                raise
        else:
            size.was_read(len(answer))
            return json_object(answer, f"GET {target}")


async def newest_version(connection: Connection, selection: Selection) -> int:
    """The API server's current resource version: a consistent list of one object, without selectors.

    Raises what `Connection.call` raises, and `Unavailable` for a response without a version.
    """
    anything = replace(selection, label_selector="", metadata_only=True)
    target = anything.target(limit="1")
    listing = await connection.call("GET", target, accept=anything.accept(as_list=True))
    metadata = listing.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if not isinstance(version, str) or not version.isdecimal():
        raise garbled(f"GET {target}", ValueError(f"resourceVersion {version!r} is no number"))
    return int(version)


async def node_label_keys(connection: Connection) -> frozenset[str]:
    """Every key that labels some node, from metadata alone. Without the right to list nodes: `Refused`."""
    keys: set[str] = set()

    def collect(node: Manifest) -> Manifest:
        keys.update(node["metadata"].get("labels") or ())
        return {}

    await list_all(connection, Selection(kind="Node", metadata_only=True), collect)
    return frozenset(keys)
