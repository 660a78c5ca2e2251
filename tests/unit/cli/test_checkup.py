"""What `llmservice doctor` makes of a cluster, as values."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmservice import __version__
from llmservice.api.crd import crd_manifest
from llmservice.catalog.loader import load_catalogue
from llmservice.cli.checkup import (
    OLDEST,
    Grade,
    Hidden,
    of_crd,
    of_kubernetes,
    of_operator,
    of_rights,
    of_services,
)
from llmservice.cli.checkup_devices import of_devices
from llmservice.converging.free_devices import DeviceNode
from llmservice.engines.registry import ENGINES
from tests.builders import an_llmservice, with_changes

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HIDDEN = Hidden("secrets of the cluster")
CHART = Path(__file__).parents[3] / "charts" / "llmservice" / "Chart.yaml"
READY = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}


def a_lease(holder: str = "operator-1_x", seconds: float = 1.0) -> dict[str, Any]:
    return {"spec": {"holderIdentity": holder, "renewTime": (NOW - timedelta(seconds=seconds)).isoformat()}}


def a_pod(version: str) -> dict[str, Any]:
    return {"spec": {"containers": [{"image": f"registry.example:5000/llmservice:{version}"}]}}


def a_node(name: str, gpus: int, *, is_open: bool = True, product: str = "NVIDIA-L4") -> DeviceNode:
    labels = {"nvidia.com/gpu.product": product} if product else {}
    return DeviceNode(name=name, is_open=is_open, devices={"nvidia.com/gpu": gpus}, labels=labels)


@pytest.mark.parametrize(
    ("minor", "grade"), [("29", Grade.WRONG), ("30", Grade.OK), ("34+", Grade.OK), ("x", Grade.OK), ("", Grade.OK)]
)
def test_kubernetes_is_new_enough(minor: str, grade: Grade) -> None:
    assert of_kubernetes({"major": "1", "minor": minor, "gitVersion": f"v1.{minor}"}).grade is grade


def test_the_oldest_kubernetes_is_that_of_the_chart() -> None:
    assert yaml.safe_load(CHART.read_text())["kubeVersion"] == f">={OLDEST[0]}.{OLDEST[1]}.0-0"


def test_the_crd_is_there_and_of_this_version() -> None:
    ours = crd_manifest(ENGINES)
    spec = "spec__versions"
    older = with_changes(ours, {})
    del older["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["suspend"]
    newer = with_changes(ours, {})
    newer["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["later"] = {}
    given = (ours, None, older, newer, with_changes(ours, {spec: []}), HIDDEN)
    grades = [of_crd(each).grade for each in given]
    assert grades == [Grade.OK, Grade.WRONG, Grade.LOOK, Grade.LOOK, Grade.LOOK, Grade.UNKNOWN]
    assert "spec.suspend" in of_crd(older).message


@pytest.mark.parametrize(
    ("lease", "pod", "grades"),
    [
        (a_lease(), a_pod(__version__), [Grade.OK, Grade.OK]),
        (a_lease(), a_pod("0.0.9"), [Grade.OK, Grade.LOOK]),
        (a_lease(), a_pod("v0.0.9@sha256:" + "0" * 64), [Grade.OK, Grade.LOOK]),
        (a_lease(), HIDDEN, [Grade.OK]),
        (a_lease(seconds=300), None, [Grade.WRONG]),
        (a_lease(holder=""), None, [Grade.WRONG]),
        (None, None, [Grade.WRONG]),
        (HIDDEN, None, [Grade.UNKNOWN]),
    ],
)
def test_the_operator_leads_is_alive_and_of_this_version(lease: Any, pod: Any, grades: list[Grade]) -> None:
    assert [each.grade for each in of_operator(lease, pod, NOW, "llmservice-system")] == grades


def test_an_operator_without_a_lease_is_known_by_what_it_wrote() -> None:
    written = {"manager": "llmservice-operator", "subresource": "status", "time": "2026-01-01T00:00:00Z"}
    seen = an_llmservice(metadata__managedFields=[written], status={"observedGeneration": 1})
    edited = an_llmservice(metadata__generation=2, status={"observedGeneration": 1})
    for services, grade in (([seen], Grade.LOOK), ([seen, edited], Grade.WRONG), ([], Grade.WRONG)):
        (found,) = of_operator(None, None, NOW, "llmservice-system", services)
        assert (found.grade, "--operator-namespace" in found.message) == (grade, True)


def test_missing_rights_are_named() -> None:
    assert of_rights({"get": True, "create": True}, "ml").grade is Grade.OK
    found = of_rights({"get": True, "create": False}, "ml")
    assert (found.grade, "create" in found.message, "may not get" in found.message) == (Grade.LOOK, True, False)


def test_devices_are_counted_by_type() -> None:
    nodes = [a_node("a", 4), a_node("b", 2, is_open=False), a_node("c", 1, product="")]
    found = list(of_devices(nodes, {"a": Counter({"nvidia.com/gpu": 3})}, load_catalogue()))
    told = {each.message.split(",")[0]: (each.grade, each.message) for each in found}
    assert told.keys() == {"6 L4 on 2 nodes", "1 nvidia.com/gpu on 1 node"}
    grade, message = told["6 L4 on 2 nodes"]
    assert (grade, ", 1 free" in message, message.endswith("such as b")) == (Grade.LOOK, True, True)
    assert "spec.gpu.resourceName" in told["1 nvidia.com/gpu on 1 node"][1]


def test_a_cluster_without_devices_is_told() -> None:
    (found,) = of_devices([], {}, load_catalogue())
    assert (found.grade, "device plugin" in found.message) == (Grade.LOOK, True)
    assert [each.grade for each in of_devices(HIDDEN, {}, load_catalogue())] == [Grade.UNKNOWN]


def test_services_that_are_not_ready_are_counted() -> None:
    good, bad = an_llmservice(status=READY), an_llmservice()
    assert [of_services(each).grade for each in ([good], [], [good, bad], HIDDEN)] == [
        Grade.OK,
        Grade.OK,
        Grade.LOOK,
        Grade.UNKNOWN,
    ]
    assert of_services([good, bad]).message.startswith("1 of 2")
