"""`llmservice bench` called as its user calls it, and services for it."""

import json
import os
import subprocess
import sys
from typing import Any

from tests.cluster.conftest import ROOT
from tests.cluster.kube import Kube
from tests.cluster.services import a_tiny_service, ask
from tests.cluster.target import Target

_LONGEST_SECONDS = 900


class Bench:
    """The command as its user calls it, with the cluster's kubeconfig."""

    def __init__(self, target: Target, kube: Kube) -> None:
        self.namespace = kube.namespace
        self.environment = {**os.environ, **target.operator_environment(), "PYTHONPATH": f"{ROOT / 'operator'}"}

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "llmservice", "bench", "-n", self.namespace, *arguments]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603

    def run(self, *arguments: str) -> dict[str, Any]:
        """What it says as JSON."""
        running = self.start(*arguments, "-o", "json")
        output, errors = running.communicate(timeout=_LONGEST_SECONDS)
        assert running.returncode == 0, errors.decode()
        told: dict[str, Any] = json.loads(output)
        return told


def serve(kube: Kube, name: str, *, slots: int, **spec: Any) -> None:
    """The tiny model on llama.cpp; it has answered once.

    With one thread: two wait for each other at every token, for long where the load generator has one of two cores.
    """
    options = {"args": ["--threads", "1", "--threads-batch", "1"]}
    kube.create(a_tiny_service(name, maxModelLen=1024, maxNumSeqs=slots, engineOptions=options, **spec))
    kube.wait_ready(name)
    if "auth" not in spec:
        ask(kube, name)
