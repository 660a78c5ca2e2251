"""Streams while replicas come and go: edits, numbers, deletions, evictions."""

import re
import subprocess
import time

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.reconcilers.scaling.autoscaler import PERIOD_SECONDS
from sandbox import Sandbox
from sandbox.build_llama import BUILD_NUMBER
from sandbox.commands import run
from sandbox.engine_image import ENGINE_IMAGES
from sandbox.images import CTR
from sandbox.settings import NODE
from tests.cluster.kube import Rejected
from tests.cluster.services import TINY
from tests.streams.audience import Audience
from tests.streams.stage import Stage

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.streams]

OLDER = "b10454"
TOO_MANY = 429
SLOW_READER = 0.1
"""Seconds over a token: ten in a second, of which the engine makes some twenty."""


def test_an_edit_of_the_spec(stage: Stage) -> None:
    before = stage.pods()
    with stage.disturbed("an edit of the spec: every replica is replaced") as audience:
        stage.edit(maxNumSeqs=17)
        _wait_replaced(stage, before, audience)


def test_a_scale_down_and_up(stage: Stage) -> None:
    with stage.disturbed("`spec.replicas` from 2 to 3, to 1, to 2") as audience:
        for replicas in (3, 1, 2):
            _scale(stage, replicas, audience)


def test_the_autoscaler_adds_one_and_its_bound_takes_one_away(stage: Stage) -> None:
    one_each = {"policy": "Threshold", "targets": {"runningRequests": 1}}
    stage.edit(replicas=None, autoscaling={"minReplicas": 2, "maxReplicas": 2, **one_each})
    try:
        with stage.disturbed("the autoscaler goes from 2 replicas to 3, and back by its bound") as audience:
            stage.edit(autoscaling={"maxReplicas": 3})
            stage.wait(lambda: len(stage.ready_pods()) == 3, audience)
            before = stage.pods()
            stage.edit(autoscaling={"maxReplicas": 2})
            stage.wait(lambda: len(before & stage.pods()) == 2, audience)
    finally:
        stage.edit(replicas=2, autoscaling=None)


@pytest.mark.quick
def test_a_pod_is_deleted(stage: Stage) -> None:
    with stage.disturbed("a pod is deleted") as audience:
        pod = stage.ready_pods()[0]
        stage.kube.delete("Pod", pod)
        _wait_replaced(stage, {pod}, audience)


def test_a_pod_is_deleted_while_clients_read_slowly(stage: Stage) -> None:
    """The engine has long finished what its clients have still to read."""
    with stage.disturbed("a pod is deleted whose clients read slower than it writes", pace=SLOW_READER) as audience:
        pod = stage.ready_pods()[0]
        stage.kube.delete("Pod", pod)
        _wait_replaced(stage, {pod}, audience)


def test_kubectl_rollout_restart(stage: Stage) -> None:
    before = stage.pods()
    with stage.disturbed("`kubectl rollout restart`") as audience:
        stage.kube.kubectl("rollout", "restart", "deployment/chat")
        _wait_replaced(stage, before, audience)


def test_every_pod_is_evicted(stage: Stage) -> None:
    """One after the other: the budget refuses the second until the first is replaced."""
    refusals, before = 0, stage.ready_pods()
    with stage.disturbed("both pods are evicted at once; the budget lets one go at a time") as audience:
        left = [*before]
        while left:
            if _evict(stage, left[0]):
                left.pop(0)
            else:
                refusals += 1
                stage.wait(lambda: len(stage.ready_pods()) == 2, audience)
        _wait_replaced(stage, {*before}, audience)
    assert refusals > 0


def test_the_node_is_drained(stage: Stage) -> None:
    """`kubectl drain` as people type it. There is one node, so it may be used again at once, as another would be."""
    before = stage.pods()
    with stage.disturbed("`kubectl drain` of the node of both replicas") as audience:
        selector = "--pod-selector=llmservice.dev/name=chat"
        drain = _kubectl(stage, "drain", NODE, "--delete-emptydir-data", "--ignore-daemonsets", selector)
        try:
            stage.wait(lambda: len(stage.ready_pods()) == 1, audience)
        finally:
            stage.kube.kubectl("uncordon", NODE)
        _wait_replaced(stage, before, audience)
        said, _ = drain.communicate(timeout=60)
        assert drain.returncode == 0, said


def test_the_engine_is_upgraded(stage: Stage, box: Sandbox) -> None:
    """The older version is the same program by another name, started with the options that the older one knows."""
    assert OLDER in load_catalogue().engines["llamacpp"].versions
    cpu = ENGINE_IMAGES[0]
    run(box.cell().command(*CTR, "images", "tag", "--force", cpu, cpu.replace(f"b{BUILD_NUMBER}", OLDER)))
    for name, version in ((f"to {OLDER}", OLDER), ("back to the newest", None)):
        before = stage.pods()
        with stage.disturbed(f"another version of the engine: {name}") as audience:
            stage.edit(engineOptions={"version": version})
            _wait_replaced(stage, before, audience)


def test_a_change_that_does_not_start_is_rolled_back(stage: Stage) -> None:
    """Replace: a replica that serves has left for the one that never does, and comes back."""
    stage.edit(rollout={"strategy": "Replace"})
    try:
        with stage.disturbed("a change that does not start: one replica is replaced, and rolled back") as audience:
            before = stage.pods()
            stage.edit(model={"uri": "pvc://models/absent.gguf"})
            stage.wait(lambda: stage.kube.condition("chat", "Ready").get("reason") == "RolledBack", audience)
            assert len(before & stage.pods()) == 1
            stage.edit(model={"uri": TINY})
    finally:
        stage.edit(model={"uri": TINY}, rollout=None)


def test_by_force_streams_are_cut_and_counted(stage: Stage) -> None:
    """The control: what is counted here would be counted above, by the operator too."""
    stage.edit(replicas=None, autoscaling={"minReplicas": 2, "maxReplicas": 2})
    try:
        with stage.watched("control: a pod is deleted by force (`--grace-period=0`)") as audience:
            began = time.monotonic()
            stage.wait(lambda: time.monotonic() > began + 1.5 * PERIOD_SECONDS, audience)
            pod = stage.ready_pods()[0]
            stage.kube.delete("Pod", pod, grace_seconds=0)
    finally:
        stage.edit(replicas=2, autoscaling=None)
    assert stage.rows[-1].truncated > 0
    assert re.search(f"pod {pod} ended with [1-9][0-9]* requests in it", stage.operator.log.read_text())


def _scale(stage: Stage, replicas: int, audience: Audience) -> None:
    stage.edit(replicas=replicas)
    stage.wait(lambda: len(stage.ready_pods()) == replicas and stage.is_settled(), audience)


def _wait_replaced(stage: Stage, before: set[str], audience: Audience) -> None:
    stage.wait(lambda: stage.all_replaced(before), audience)


def _evict(stage: Stage, pod: str) -> bool:
    """Ask for it, as drains and autoscalers of nodes do; whether the budget allows it now."""
    namespace = stage.kube.namespace
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace}}
    try:
        stage.kube.request("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction", body)
    except Rejected as rejected:
        if rejected.status != TOO_MANY:
            raise
        return False
    return True


def _kubectl(stage: Stage, *arguments: str) -> subprocess.Popen[str]:
    """One that goes on while the test does."""
    command = [str(stage.kube.kubectl_path), "--kubeconfig", str(stage.kube.kubeconfig), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603
