"""The workload: N LLMServices, created as fast as the API server takes them, and watched from outside.

Beside it the bare workload: the same children, made by a client that does nothing else.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from llmservice.cli.render import render_resource
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.transport.json_lines import json_lines
from llmservice.cluster.watching.listing import Selection, list_all

NAMESPACE = "scale"
CHILDREN = ("Service", "Deployment")
_SPEC = {
    "engine": "vllm",
    "model": {"uri": "hf://Qwen/Qwen2.5-7B-Instruct-AWQ"},
    "quantization": "awq",
    "gpu": {"type": "L4"},
    "replicas": 1,
}
_CONNECTIONS = 32
_OPERATOR_WORKERS = 16


async def create(connection: Connection, count: int) -> tuple[float, float]:
    """Create them; the monotonic times of the first request and of the last answer."""
    began = time.monotonic()
    await at_once(_CONNECTIONS, count, lambda number: create_one(connection, number))
    return began, time.monotonic()


async def create_one(connection: Connection, number: int) -> object:
    """Create one of them."""
    return await connection.call("POST", KINDS["LLMService"].collection(NAMESPACE), body=a_service(number))


async def create_children(connection: Connection, count: int) -> float:
    """Make the children of so many services, with neither service nor operator; seconds until the last answer."""
    api, began = ApiServer(connection), time.monotonic()

    async def of_one(number: int) -> None:
        for child in render_resource(a_service(number)):
            await api.apply_new(child, manager="bare")

    await at_once(_OPERATOR_WORKERS, count, of_one)
    return time.monotonic() - began


async def at_once(limit: int, count: int, call: Callable[[int], Awaitable[object]]) -> None:
    """Make the calls 0 to `count` - 1, so many at once."""
    free = asyncio.Semaphore(limit)

    async def one(number: int) -> None:
        async with free:
            await call(number)

    await asyncio.gather(*map(one, range(count)))


async def until_all(
    connection: Connection, kind: str, count: int, is_one: Callable[[dict[str, Any]], bool], *, whole: bool = False
) -> float:
    """The monotonic time at which so many objects had been seen as wanted.

    The API server closes the watch of whoever reads too slowly, so it may take several.
    """
    selection = Selection(kind=kind, namespace=NAMESPACE, metadata_only=not whole)
    seen: set[str] = set()
    while True:
        listing = await list_all(connection, selection)
        seen |= {item["metadata"]["name"] for item in listing.items if is_one(item)}
        if len(seen) >= count:
            return time.monotonic()
        target = selection.target(watch="true", resourceVersion=listing.version)
        async with connection.stream(target, silence_seconds=600, accept=selection.accept(as_list=False)) as reader:
            async for event in json_lines(reader):
                if event["type"] in {"ADDED", "MODIFIED"} and is_one(event["object"]):
                    seen.add(event["object"]["metadata"]["name"])
                if len(seen) >= count:
                    return time.monotonic()
                if event["type"] == "ERROR":
                    break


def is_there(_: dict[str, Any]) -> bool:
    """To be there is enough."""
    return True


def is_ready(body: dict[str, Any]) -> bool:
    """Ready, and said of the newest spec."""
    status = body.get("status") or {}
    current = status.get("observedGeneration") == body["metadata"]["generation"]
    conditions = status.get("conditions") or ()
    return current and any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def name_of(number: int) -> str:
    """The name of one of the workload."""
    return f"chat-{number:05}"


def a_service(number: int) -> dict[str, Any]:
    """One of the workload, as a user writes it."""
    kind = KINDS["LLMService"]
    metadata = {"name": name_of(number), "namespace": NAMESPACE}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": _SPEC}
