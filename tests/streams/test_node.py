"""Streams while the node itself goes down in order."""

from pathlib import Path

import pytest

from sandbox import Sandbox
from tests.streams.node_shutdown import node_shutdown
from tests.streams.other_node import a_replica_elsewhere
from tests.streams.stage import Stage

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.streams]

GRACE_SECONDS = 120
"""What an administrator gives in the kubelet's shutdownGracePeriod: longer than any stream here."""


def test_the_node_is_shut_down(stage: Stage, box: Sandbox, tmp_path: Path) -> None:
    """What runs is finished, and who goes on asking is sent to a replica on another node.

    Kubernetes alone would leave such pods among the endpoints (its issue 116965). Whoever asked then would be answered
    by a replica that ends with the grace of the shutdown, and be cut.
    """
    with node_shutdown(box, GRACE_SECONDS) as shutdown, a_replica_elsewhere(stage, box, tmp_path):
        stage.kube.wait(lambda: "inhibited" in shutdown.said or None, lambda: shutdown.said)
        _take_up_new_pods(stage)
        before = stage.pods()
        with stage.disturbed("shutdown of the node of two replicas; a third is elsewhere") as audience:
            shutdown.announce(now=True)
            stage.wait(lambda: "released" in shutdown.said, audience)
            shutdown.announce(now=False)
            stage.wait(lambda: len(stage.ready_pods()) == 2, audience)
    assert not before & {*stage.ready_pods()}
    _take_up_new_pods(stage)


def _take_up_new_pods(stage: Stage) -> None:
    """Replace what a kubelet that was just started has found: nothing is ready for it until it has probed it anew.

    And it would reject what it has just found when the node goes down.
    """
    stage.kube.kubectl("rollout", "restart", "deployment/chat")
    stage.kube.kubectl("rollout", "status", "deployment/chat", "--timeout=110s")
    stage.kube.wait(lambda: stage.is_settled() or None, stage.pods)
