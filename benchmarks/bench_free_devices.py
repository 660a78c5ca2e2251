"""What counting free devices costs: nodes and pods of a large cluster, read from a server of a few lines.

python benchmarks/bench_free_devices.py --nodes 1000 --pods 10000
"""

import asyncio
import multiprocessing
import resource
import socket
import time
from collections.abc import Mapping
from typing import Any

import click
import orjson
from aiohttp import web

from llmservice.cluster.device_census import DeviceCensus
from llmservice.cluster.transport.connection import connect
from llmservice.converging.free_devices import Own
from llmservice.reconcilers.free_devices import FreeDevices
from tests.unit.cluster.fake_api_server import some_credentials
from tests.unit.converging.devices import a_holder, a_node, asking

_SERVICES = 500
_NODE_NAME = "spec.nodeName="


def _padded(body: dict[str, Any], size: int) -> bytes:
    """The object with managed fields that nobody reads, as large as its kind usually is."""
    fields: dict[str, dict[str, str]] = {f"f:{number:08}": {} for number in range(size // 17)}
    return orjson.dumps({**body, "metadata": {**body["metadata"], "managedFields": [{"fieldsV1": fields}]}})


def _objects(nodes: int, pods: int) -> Mapping[str, list[bytes]]:
    """Nodes of 9 kB with eight devices; pods of 6 kB on them, every other with a device."""
    return {
        "nodes": [_padded(a_node(f"n{number}", 8), 9000) for number in range(nodes)],
        "pods": [_padded(a_holder(f"p{number}", f"n{number % nodes}", number % 2), 6000) for number in range(pods)],
    }


def _serve(listener: socket.socket, nodes: int, pods: int) -> None:
    objects = _objects(nodes, pods)

    async def page(request: web.Request) -> web.Response:
        selected, selector = objects[request.path.rsplit("/", 1)[1]], request.query.get("fieldSelector", "")
        if _NODE_NAME in selector:
            selected = selected[int(selector.partition(f"{_NODE_NAME}n")[2]) :: nodes]
        begin, limit = int(request.query.get("continue", 0)), int(request.query["limit"])
        more = {"continue": str(begin + limit)} if begin + limit < len(selected) else {}
        metadata = orjson.dumps({"resourceVersion": "7", **more})
        items = b",".join(selected[begin : begin + limit])
        return web.Response(body=b'{"metadata":' + metadata + b',"items":[' + items + b"]}")

    application = web.Application()
    application.router.add_get("/api/v1/{kind}", page)
    web.run_app(application, sock=listener, print=None)


async def _measure(server: str) -> None:
    async with connect(some_credentials(server)) as connection:
        await DeviceCensus(connection).pods("n0")  # the server has made its objects
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        free = FreeDevices(DeviceCensus(connection), time.monotonic)
        began, cpu = time.monotonic(), time.process_time()
        room = await free.room("ml/chat", asking(8), Own())
        took, used = time.monotonic() - began, time.process_time() - cpu
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"one reading: {took:.2f} s, {used:.2f} s of CPU, {more:.0f} MiB more at the peak; {room}")
        began = time.monotonic()
        for number in range(_SERVICES):
            await free.room(f"ml/chat-{number}", asking(8), Own())
        print(f"each of {_SERVICES} services more: {(time.monotonic() - began) / _SERVICES * 1000:.1f} ms")


@click.command()
@click.option("--nodes", default=1000, show_default=True)
@click.option("--pods", default=10_000, show_default=True)
def main(nodes: int, pods: int) -> None:
    """Print what one reading takes, and what the services that share it add."""
    listener = socket.create_server(("127.0.0.1", 0))
    process = multiprocessing.get_context("fork").Process(target=_serve, args=(listener, nodes, pods), daemon=True)
    process.start()
    try:
        asyncio.run(_measure(f"http://127.0.0.1:{listener.getsockname()[1]}"))
    finally:
        process.terminate()


if __name__ == "__main__":
    main()
