"""Which platform planning is told, from labels, from the setting, or from neither."""

import asyncio
from collections.abc import Collection

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.overlay import overlaid
from llmservice.cluster.watching.listing import node_label_keys
from llmservice.controllers.platform_watch import PlatformWatch
from llmservice.errors import OperatorError, Refused, Unavailable
from llmservice.reconcilers.planner import CataloguePlanner
from tests.unit.cluster.fake_api_server import FakeApiServer, a_list, serving

KARPENTER = {"karpenter.k8s.aws/instance-family", "kubernetes.io/os"}
FORBIDDEN = Refused("Forbidden", "nodes is forbidden")


def a_watch(*answers: Collection[str] | OperatorError, setting: str = "") -> PlatformWatch:
    """Each look gets the next answer."""
    script = iter(answers)

    async def label_keys() -> Collection[str]:
        answer = next(script)
        if isinstance(answer, OperatorError):
            raise answer
        return answer

    settled = asyncio.Event()
    settled.set()
    planner = CataloguePlanner(load_catalogue(), platform=setting)
    return PlatformWatch(planner=planner, label_keys=label_keys, catalogue_settled=settled, setting=setting)


@pytest.mark.parametrize(
    ("answer", "setting", "platform"),
    [
        (KARPENTER, "", "eks-karpenter"),
        (KARPENTER, "gke", "eks-karpenter"),
        ({"kubernetes.io/os"}, "gke", "gke"),
        ({"kubernetes.io/os"}, "", ""),
        (FORBIDDEN, "gke", "gke"),
        (FORBIDDEN, "", ""),
        (Unavailable("Timeout", "no answer"), "gke", "gke"),
    ],
)
async def test_labels_tell_the_platform_and_else_the_setting(
    answer: Collection[str] | OperatorError, setting: str, platform: str
) -> None:
    watch = a_watch(answer, setting=setting)
    await watch.look()
    assert watch.planner.platform == platform


async def test_a_missing_right_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    watch = a_watch(FORBIDDEN, FORBIDDEN, setting="gke")
    pauses = [await watch.look(), await watch.look()]
    assert caplog.text.count("nodes may not be listed, LLMSERVICE_PLATFORM=gke is used") == 1
    assert pauses == [600.0, 600.0]


async def test_a_cluster_that_cannot_be_reached_keeps_what_is_known_and_is_asked_again_soon() -> None:
    watch = a_watch(KARPENTER, Unavailable("Timeout", "no answer"))
    await watch.look()
    assert await watch.look() < 60
    assert watch.planner.platform == "eks-karpenter"


async def test_a_platform_no_row_knows_is_told(caplog: pytest.LogCaptureFixture) -> None:
    watch = a_watch(set(), setting="gk")
    task = asyncio.create_task(watch.run())
    await watch.settled.wait()
    task.cancel()
    assert "LLMSERVICE_PLATFORM: gk is no platform of the catalogue; use one of aks-karpenter, amd" in caplog.text


async def test_nodes_are_listed_by_their_metadata_alone() -> None:
    nodes = [{"metadata": {"name": name, "labels": {name: "x"}}} for name in ("a", "b")]
    fake = FakeApiServer(lists=[a_list(1, nodes[0], more="next"), a_list(1, nodes[1], {"metadata": {"name": "c"}})])
    async with serving(fake) as connection:
        assert await node_label_keys(connection) == {"a", "b"}
    assert {request.path for request in fake.requests} == {"/api/v1/nodes"}
    assert all("PartialObjectMetadataList" in request.headers["Accept"] for request in fake.requests)


async def test_the_catalogue_of_the_moment_tells_the_platform() -> None:
    """It may be another one than when the nodes were asked for."""
    watch = a_watch()

    async def label_keys() -> Collection[str]:
        watch.planner.catalogue = overlaid({"accelerators.yaml": "platforms: {ours: [example.com/ours]}"})
        return {"example.com/ours"}

    watch.label_keys = label_keys
    await watch.look()
    assert watch.planner.platform == "ours"
