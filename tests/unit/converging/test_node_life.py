"""Which pods keep their node while they start."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from llmservice.converging.node_life import shields
from llmservice.objects.references import Manifest

NOW = datetime(2026, 1, 1, 0, 10, tzinfo=UTC)
RUNNING = {"running": {"startedAt": "2026-01-01T00:01:00Z"}}


def a_pod(
    *, node: str = "node-1", ready: str = "False", shielded: bool = False, state: Any = None, **engine: Any
) -> Manifest:
    return {
        "metadata": {
            "name": "chat-0",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {"llmservice.dev/starting": "true"} if shielded else {},
        },
        "spec": {"nodeName": node} if node else {},
        "status": {
            "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": "2026-01-01T00:00:30Z"}],
            "containerStatuses": [{"name": "engine", "state": state or RUNNING, **engine}],
        },
    }


def changes(pod: Manifest, annotated: Mapping[str, str] | None = None, *, longest: float = 3600.0) -> list[bool]:
    return [shielded for _, shielded in shields([pod], annotated or {}, longest, NOW)]


def test_a_pod_that_loads_is_shielded_once_and_freed_when_it_is_ready() -> None:
    assert changes(a_pod()) == [True]
    assert changes(a_pod(shielded=True)) == []
    assert changes(a_pod(shielded=True, ready="True")) == [False]
    assert changes(a_pod(ready="True")) == []


@pytest.mark.parametrize(
    "pod",
    [
        a_pod(node=""),
        a_pod(restartCount=1),
        a_pod(state={"waiting": {"reason": "ImagePullBackOff"}}),
        a_pod(state={"running": {"startedAt": "2026-01-01T00:00:10Z"}}),
    ],
    ids=["without a node", "crashed", "no image", "served before"],
)
def test_only_a_first_start_that_can_succeed_holds_a_node(pod: Manifest) -> None:
    assert changes(pod) == []
    pod["metadata"]["annotations"] = {"llmservice.dev/starting": "true"}
    assert changes(pod) == [False]


def test_a_start_beyond_its_budget_holds_no_node() -> None:
    assert changes(a_pod(shielded=True), longest=599.0) == [False]


def test_what_the_user_says_counts() -> None:
    assert changes(a_pod(), {"karpenter.sh/do-not-disrupt": "false"}) == []
    assert changes(a_pod(), {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}) == []
    assert changes(a_pod(), {"team": "ml"}) == [True]


def test_a_pod_that_leaves_is_left_alone() -> None:
    pod = a_pod()
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:09:00Z"
    assert changes(pod) == []
