"""Which cluster the tests use: the sandbox, or one that LLMSERVICE_TEST_CONTEXT names. KUBECONFIG alone is ignored."""

import base64
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sandbox import Sandbox
from sandbox.tiny_model import tiny_model
from tests.cluster.kube import Kube, Rejected

CONTEXT_VARIABLE = "LLMSERVICE_TEST_CONTEXT"


class Target(Protocol):
    """A cluster to test on."""

    def connect(self) -> Kube:
        """A client with an administrator's rights."""
        ...

    def operator_environment(self) -> dict[str, str]:
        """What the operator needs in its environment to reach the same cluster."""
        ...

    def model_volume(self, kube: Kube, claim: str) -> None:
        """Give the namespace a claim with the tiny model at /tiny.gguf."""
        ...


@dataclass(frozen=True)
class SandboxTarget:
    """The sandbox `test`, started when it is not there; it stays up for the next run."""

    box: Sandbox

    def connect(self) -> Kube:
        """Start it if need be and connect."""
        self.box.up()
        return Kube.connect(self.box.kubeconfig, self.box.kubectl)

    def operator_environment(self) -> dict[str, str]:
        """Its own kubeconfig, whatever the user has exported."""
        return {"KUBECONFIG": str(self.box.kubeconfig)}

    def model_volume(self, kube: Kube, claim: str) -> None:
        """A volume of the sandbox's node."""
        self.box.model_volume(kube.namespace, claim)


@dataclass(frozen=True)
class NamedTarget:
    """Somebody's cluster: only namespaces of our own are touched, no node ever; not where LLMServices already live."""

    context: str

    def connect(self) -> Kube:
        """Connect and say where to; refuses a cluster in use."""
        kubeconfig = Path(os.environ.get("KUBECONFIG", "~/.kube/config")).expanduser()
        kubectl = shutil.which("kubectl")
        if kubectl is None:
            raise RuntimeError(f"{CONTEXT_VARIABLE} is set but there is no kubectl: install it")
        kube = Kube.connect(kubeconfig, Path(kubectl), self.context)
        print(f"\ncluster tests run on {kube.api.configuration.host} (context {self.context})")  # noqa: T201
        refuse_when_used(kube)
        return kube

    def operator_environment(self) -> dict[str, str]:
        """The same kubeconfig and context."""
        return {"LLMSERVICE_CONTEXT": self.context}

    def model_volume(self, kube: Kube, claim: str) -> None:
        """A claim of the default StorageClass, filled by a pod from a ConfigMap."""
        content = base64.b64encode(tiny_model()).decode()
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{claim}-content"}}
        kube.create({**config_map, "binaryData": {"tiny.gguf": content}})
        kube.kubectl("apply", "-f", "-", stdin=json.dumps(_claim_and_filler(claim)))
        kube.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", f"pod/{claim}-filler", "--timeout=180s")


def refuse_when_used(kube: Kube) -> None:
    """Raise when LLMServices already live in the cluster: an operator of ours would act on them."""
    try:
        found = kube.list("LLMService")
    except Rejected:
        return
    if found:
        names = ", ".join(f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in found[:5])
        raise RuntimeError(f"LLMServices live in this cluster ({names}): tests run only where there are none")


def chosen() -> Target:
    """The target the environment names."""
    context = os.environ.get(CONTEXT_VARIABLE, "")
    if context:
        return NamedTarget(context)
    return SandboxTarget(Sandbox.named(sandbox_name(os.environ), gpus=4))


def sandbox_name(environment: Mapping[str, str]) -> str:
    """The sandbox of this process: tests that run side by side have one each, so that none sees another's operator.

    The first of pytest-xdist's workers, and a run without any, has the one that `LLMSERVICE_SANDBOX` names.
    """
    name = environment.get("LLMSERVICE_SANDBOX", "test")
    worker = int(environment.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return f"{name}-{worker + 1}" if worker else name


def _claim_and_filler(claim: str) -> dict[str, object]:
    security = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    return {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": claim},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "64Mi"}}},
            },
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"{claim}-filler"},
                "spec": {
                    "restartPolicy": "Never",
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": 65532,
                        "fsGroup": 65532,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [
                        {
                            "name": "fill",
                            "image": "busybox:1.37",
                            "command": ["cp", "/content/tiny.gguf", "/volume/tiny.gguf"],
                            "securityContext": security,
                            "volumeMounts": [
                                {"name": "content", "mountPath": "/content"},
                                {"name": "volume", "mountPath": "/volume"},
                            ],
                        }
                    ],
                    "volumes": [
                        {"name": "content", "configMap": {"name": f"{claim}-content"}},
                        {"name": "volume", "persistentVolumeClaim": {"claimName": claim}},
                    ],
                },
            },
        ],
    }
