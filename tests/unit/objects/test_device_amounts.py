"""What a pod takes of its node, by the rules of the scheduler."""

from typing import Any

import pytest

from llmservice.objects.device_amounts import devices_in, devices_of

GPU = "nvidia.com/gpu"


def asking(count: int | str, **more: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"limits": {GPU: str(count), "cpu": "4"}}, **more}


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({"containers": [asking(2)]}, 2),
        ({"containers": [asking(2), asking(1)]}, 3),
        ({"containers": [asking(1)], "initContainers": [asking(4), asking(3)]}, 4),
        ({"containers": [asking(1)], "initContainers": [asking(2, restartPolicy="Always")]}, 3),
        ({"containers": [asking(1)], "initContainers": [asking(2, restartPolicy="Always"), asking(3)]}, 5),
        ({"containers": [asking(1)], "initContainers": [asking(3), asking(2, restartPolicy="Always")]}, 3),
        ({"containers": [asking(1)], "overhead": {GPU: "1", "cpu": "250m"}}, 2),
        ({"containers": [{"name": "c", "resources": {"requests": {GPU: "2"}}}]}, 2),
        ({"containers": [{"name": "c"}]}, 0),
        ({}, 0),
    ],
)
def test_what_a_pod_takes(spec: dict[str, Any], count: int) -> None:
    assert devices_of(spec) == ({GPU: count} if count else {})


def test_a_slice_is_a_resource_of_its_own_and_what_is_kubernetes_own_is_no_device() -> None:
    amounts = {"nvidia.com/mig-1g.10gb": "3", GPU: "0", "cpu": "8", "hugepages-2Mi": "1Gi", "x.kubernetes.io/y": "1"}
    assert devices_in(amounts) == {"nvidia.com/mig-1g.10gb": 3}


@pytest.mark.parametrize("text", ["", "two", "NaN", "Infinity", "-1", None, {}, "1" * 40 + "x"])
def test_what_is_no_number_counts_as_none(text: object) -> None:
    assert devices_in({GPU: text}) == {}


def test_no_amount_is_beyond_measure() -> None:
    assert devices_in({GPU: "9e999"}) == {GPU: 10**6}
