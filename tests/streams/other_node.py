"""A replica on another node. The sandbox has one node, so it is played: the same engine beside the pods of that node.

It runs in the node's network, as no pod, so no kubelet ends it; an EndpointSlice puts it behind the Service, as the
slices of several controllers may stand side by side (kubernetes.io/docs/concepts/services-networking/endpoint-slices).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL

import urllib3

from sandbox import Sandbox
from sandbox.build_llama import llama_build
from sandbox.cache import cache_folder
from sandbox.progress import Progress
from tests.cluster.kube import Body
from tests.streams.stage import Stage

PORT = 9000
_ANSWER_SECONDS = 2


@contextmanager
def a_replica_elsewhere(stage: Stage, box: Sandbox, folder: Path) -> Iterator[None]:
    """The Service has one more endpoint while the block runs; what it writes lies in the folder."""
    program = llama_build().ensure(cache_folder(), Progress()) / "llama-server"
    argv = [str(program), *_arguments(stage, box)]
    engine = box.cell().start_program(argv, log=folder / "engine.log", record=folder / "engine.json")
    slice_ = _slice(str(box.spec.addresses.node), stage.kube.namespace)
    try:
        stage.kube.wait(lambda: _serves(box) or None, lambda: (folder / "engine.log").read_text()[-2000:])
        stage.kube.create(slice_)
        yield
    finally:
        stage.kube.delete("EndpointSlice", slice_["metadata"]["name"])
        engine.stop(SIGKILL, 10)


def _arguments(stage: Stage, box: Sandbox) -> list[str]:
    """Those of the replicas, with the model and a port of the node; one thread, for the machine is small."""
    deployment = stage.kube.get("Deployment", "chat")
    assert deployment is not None
    arguments: list[str] = list(deployment["spec"]["template"]["spec"]["containers"][0]["args"])
    for option, value in (("--model", box.spec.models / "tiny.gguf"), ("--port", PORT)):
        arguments[arguments.index(option) + 1] = str(value)
    return [*arguments, "--threads", "1"]


def _serves(box: Sandbox) -> bool:
    try:
        answer = urllib3.request(
            "GET", f"http://{box.spec.addresses.node}:{PORT}/health", timeout=_ANSWER_SECONDS, retries=False
        )
    except urllib3.exceptions.HTTPError:
        return False
    return answer.status == 200


def _slice(address: str, namespace: str) -> Body:
    labels = {"kubernetes.io/service-name": "chat", "endpointslice.kubernetes.io/managed-by": "streams-test"}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "chat-elsewhere", "namespace": namespace, "labels": labels},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}, "nodeName": "node2"}],
        "ports": [{"name": "http", "port": PORT, "protocol": "TCP"}],
    }
