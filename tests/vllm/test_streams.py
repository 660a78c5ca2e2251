"""Streams from the real vLLM while its replicas come and go: it is told to stop, and finishes what runs."""

import pytest

from sandbox import Sandbox
from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.streams.audience import Audience
from tests.streams.stage import Stage
from tests.vllm.services import a_vllm_service, tokens_of

pytestmark = pytest.mark.vllm

HELD = 4
SLOTS = 2 * HELD
"""Of each of the two replicas: while one leaves, nobody waits for a place at the other."""
ALONE_SECONDS = 5
"""What a long stream takes while it has the machine to itself. Here it shares two cores with seven others and with a
replica that starts, and must still end within the time for a drain."""
PATIENCE_SECONDS = 1200
"""Two replicas start, one after the other, and each takes minutes on a busy machine."""
KNOCK_SECONDS = 2.0
"""A short stream costs vLLM on a CPU more than it costs llama.cpp."""


def test_no_stream_is_cut_when_a_pod_is_deleted_and_when_all_are_replaced(
    kube: Kube, operator: Operator, vllm_node: Sandbox
) -> None:
    vllm_node.model_volume(kube.namespace, "models")
    service = a_vllm_service()
    service["spec"] |= {"replicas": 2, "maxNumSeqs": SLOTS}
    kube.create(service)
    kube.wait_ready("chat", seconds=600)
    stage = Stage(
        kube=kube,
        operator=operator,
        tokens=tokens_of(kube, ALONE_SECONDS),
        held=HELD,
        least_in_flight=HELD - 1,
        knock_seconds=KNOCK_SECONDS,
        patience_seconds=PATIENCE_SECONDS,
    )

    with stage.disturbed("vLLM: a pod is deleted") as audience:
        pod = stage.ready_pods()[0]
        kube.delete("Pod", pod)
        _wait_replaced(stage, {pod}, audience)
    before = stage.pods()
    with stage.disturbed("vLLM: an edit, every replica is replaced") as audience:
        kube.patch("LLMService", "chat", {"spec": {"maxNumSeqs": SLOTS + 1}})
        _wait_replaced(stage, before, audience)
    print(*stage.rows, sep="\n")  # noqa: T201  (minutes of a test worth reading)


def _wait_replaced(stage: Stage, before: set[str], audience: Audience) -> None:
    stage.wait(lambda: stage.all_replaced(before), audience)
