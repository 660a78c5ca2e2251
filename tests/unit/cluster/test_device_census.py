"""What is read of nodes and pods, and how much of it is kept."""

from typing import Any

import orjson
import pytest
from aiohttp import web

from llmservice.cluster.device_census import DeviceCensus
from llmservice.errors import Refused
from llmservice.objects.references import Manifest
from tests.unit.cluster.fake_api_server import FakeApiServer, Scene, a_list, a_status, answer, serving
from tests.unit.converging.devices import a_holder, a_node


async def test_of_nodes_only_those_with_devices_are_kept() -> None:
    cpu = a_node("cpu")
    cpu["status"]["allocatable"] = {"cpu": "64"}
    fake = FakeApiServer(
        lists=[a_list(1, a_node("n1", 4), more="next"), a_list(1, cpu, a_node("n2", unschedulable=True))]
    )
    async with serving(fake) as connection:
        nodes = await DeviceCensus(connection).nodes()
    assert [(node.name, node.is_open, dict(node.devices)) for node in nodes] == [
        ("n1", True, {"nvidia.com/gpu": 4}),
        ("n2", False, {"nvidia.com/gpu": 1}),
    ]


@pytest.mark.parametrize(
    ("node", "selector"),
    [
        ("", "status.phase!=Succeeded,status.phase!=Failed"),
        ("n1", "status.phase!=Succeeded,status.phase!=Failed,spec.nodeName=n1"),
    ],
)
async def test_pods_that_have_ended_are_not_even_asked_for(node: str, selector: str) -> None:
    plain = a_holder("plain", gpus=0)
    fake = FakeApiServer(lists=[a_list(1, a_holder("a"), plain)])
    async with serving(fake) as connection:
        pods = await DeviceCensus(connection).pods(node)
    assert [(pod.uid, pod.node, dict(pod.devices)) for pod in pods] == [("uid-a", "n1", {"nvidia.com/gpu": 1})]
    (request,) = fake.requests
    assert (request.path, request.query["fieldSelector"]) == ("/api/v1/pods", selector)


async def test_without_the_right_it_is_refused() -> None:
    fake = FakeApiServer(lists=[answer(403, a_status(403, "nodes is forbidden", "Forbidden"))])
    async with serving(fake) as connection:
        with pytest.raises(Refused):
            await DeviceCensus(connection).nodes()


def a_large_cluster(count: int) -> Scene:
    """Pods of 8 kB, one in ten with a device, in pages as they are asked for."""

    def a_pod(number: int) -> Manifest:
        pod = a_holder(f"p{number}", f"n{number % 1000}", gpus=int(number % 10 == 0))
        return pod | {"metadata": pod["metadata"] | {"annotations": {"notes": "x" * 8000}}}

    async def page(request: web.Request) -> web.StreamResponse:
        begin, limit = int(request.query.get("continue", 0)), int(request.query["limit"])
        more: dict[str, Any] = {"continue": str(begin + limit)} if begin + limit < count else {}
        items = [a_pod(number) for number in range(begin, min(begin + limit, count))]
        return web.Response(body=orjson.dumps({"metadata": {"resourceVersion": "7", **more}, "items": items}))

    return page


async def test_of_many_pods_only_what_holds_devices_is_kept() -> None:
    fake = FakeApiServer(lists=[a_large_cluster(1000)])
    async with serving(fake) as connection:
        assert len(await DeviceCensus(connection).pods()) == 100
