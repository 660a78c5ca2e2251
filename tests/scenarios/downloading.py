"""A world whose models are downloaded to claims, and hands that play job controller, kubelet and download."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from llmservice.converging.weights_progress import Received
from llmservice.models.download_answer import DownloadedModel, answer_of, answer_text
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason
from llmservice.models.download_request import DownloadRequest
from llmservice.objects.names import DOWNLOAD_CONTAINER
from llmservice.objects.references import Manifest, Ref, ref_of, uid_of
from llmservice.planning.facts import RegistrySettings
from llmservice.reconcilers.downloads import Downloads
from llmservice.rendering.download_job import DownloadSettings
from tests.scenarios.world import NAMESPACE, World

SHARED: dict[str, Any] = {
    "spec__model__uri": "hf://tiny/open",
    "spec__model__file": "tiny-Q4_0.gguf",
    "spec__model__cache": {"claim": {"name": "models"}},
}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PATH = f"huggingface/hub/models--tiny--open/snapshots/{COMMIT}/tiny-Q4_0.gguf"
SIZE = 100_000_000_000
THERE = DownloadedModel(path=PATH, commit=COMMIT, bytes=SIZE, files=1, seconds=60.0)
_REQUEST = DownloadRequest(uri="hf://tiny/open")
_SETTINGS = DownloadSettings(image="registry.example/operator:1")


@dataclass
class DownloadWorld(World):
    """The world with downloads. `received` is what the pod's page says (None: it is not reached), `read` how often."""

    settings: DownloadSettings = _SETTINGS
    received: Received | None = None
    read: int = 0
    downloads: Downloads = field(init=False)
    _pods: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.restart()

    def restart(self) -> None:
        """A new process: what it remembered of downloads is gone."""
        self.downloads = Downloads(
            cluster=self.cluster,
            registry=RegistrySettings(),
            settings=self.settings,
            progress=self._progress,
            now=lambda: self.time,
            clock=self.seconds,
        )
        self.reconciler.fetch = self.downloads.weights_of
        self.reconciler.fetch_beside = self.downloads.beside_of

    async def _progress(self, address: str) -> Received | None:
        assert address == "10.0.0.9"
        self.read += 1
        return self.received

    def claim(self, name: str = "models", **spec: Any) -> Manifest:
        """A claim of the user's."""
        fields = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "500Gi"}}, **spec}
        metadata = {"name": name, "namespace": NAMESPACE}
        body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": fields}
        return self.cluster.create(body)

    def passes(self, *names: str, seconds: float = 3.0) -> list[float | None]:
        """Time goes by, then each of these services has a pass."""
        self.time += timedelta(seconds=seconds)
        return [self.pass_once(name) for name in names or ("chat",)]

    def jobs(self) -> list[Manifest]:
        """The Jobs that are there."""
        return asyncio.run(self.cluster.list("Job", NAMESPACE))

    def job(self) -> Manifest:
        """The only one."""
        (job,) = self.jobs()
        return job

    def pod(self, state: Manifest | None = None, **status: Any) -> Ref:
        """A pod of the Job, which runs unless its container is in another state."""
        job, self._pods = self.job(), self._pods + 1
        ref = Ref("Pod", NAMESPACE, f"{job['metadata']['name']}-{self._pods}")
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"], "uid": uid_of(job)}
        metadata = {
            "namespace": NAMESPACE,
            "name": ref.name,
            "labels": {"batch.kubernetes.io/job-name": job["metadata"]["name"]},
            "ownerReferences": [{**owner, "controller": True}],
        }
        container = {"name": DOWNLOAD_CONTAINER, "state": state or {"running": {}}}
        shown = {"podIP": "10.0.0.9", "containerStatuses": [container], **status}
        self.cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": shown})
        return ref

    def ends(self, pod: Ref, message: str = "", *, code: int = 0) -> None:
        """The container of a pod ends, with a termination message."""
        reason = "Completed" if code == 0 else "Error"
        state = {"terminated": {"exitCode": code, "reason": reason, "message": message}}
        statuses = [{"name": DOWNLOAD_CONTAINER, "state": state}]
        self.cluster.edit(pod, lambda live: live["status"].update(containerStatuses=statuses), subresource="status")

    def job_ends(self, kind: str = "Complete") -> None:
        """The job controller notices."""
        conditions = [{"type": kind, "status": "True"}]
        self.cluster.edit(
            ref_of(self.job()), lambda live: live["status"].update(conditions=conditions), subresource="status"
        )

    def answers(self, result: DownloadedModel | DownloadFailure = THERE) -> None:
        """The Job's pod runs to its end."""
        self.ends(self.pod(), said(result))
        self.job_ends()

    def serves(self, *names: str) -> None:
        """The Job has answered: the services start, and are ready."""
        for name in names or ("chat",):
            self.passes(name)
            self.reconcile(name)
            self.roll_out(name)
            self.reconcile(name)

    def events(self) -> list[Manifest]:
        """What was told."""
        return asyncio.run(self.cluster.list("Event", NAMESPACE))

    def written(self) -> Counter[str]:
        """How often each kind of object was written, and forget it."""
        done = Counter(f"{verb} {ref.kind}" for verb, ref in self.cluster.writes)
        self.cluster.writes.clear()
        return done


def said(result: DownloadedModel | DownloadFailure) -> str:
    """The termination message with this result."""
    return answer_text(answer_of(_REQUEST, result))


def failure(reason: DownloadFailureReason, **numbers: int) -> DownloadFailure:
    """A failure of this kind."""
    return DownloadFailure(reason=reason, message="it is so", **numbers)


def a_download(**changes: Any) -> DownloadWorld:
    """A world where the Job for one service is there."""
    world = DownloadWorld()
    world.claim()
    world.apply(**{**SHARED, **changes})
    world.passes()
    return world
