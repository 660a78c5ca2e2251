"""What the job controller and the kubelet do with an inspection's Job, by hand."""

from typing import Any

from llmservice.objects.names import INSPECTION_CONTAINER
from llmservice.objects.references import Manifest, Ref, ref_of, uid_of
from tests.in_memory_cluster.cluster import InMemoryCluster

JOB_NAME = "batch.kubernetes.io/job-name"


def jobs_in(cluster: InMemoryCluster, namespace: str = "ml") -> list[Manifest]:
    """The Jobs that are there."""
    refs = {ref for verb, ref in cluster.writes if ref.kind == "Job" and ref.namespace == namespace}
    return [live for ref in sorted(refs) if (live := cluster.peek(ref))]


def the_job(cluster: InMemoryCluster) -> Manifest:
    """The only one."""
    (job,) = jobs_in(cluster)
    return job


def run(cluster: InMemoryCluster, job: Manifest, status: Manifest | None = None, *, name: str = "pod") -> Ref:
    """Make a pod of the Job, with this status."""
    ref = Ref("Pod", job["metadata"]["namespace"], f"{job['metadata']['name']}-{name}")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"], "uid": uid_of(job)}
    metadata = {
        "namespace": ref.namespace,
        "name": ref.name,
        "labels": {JOB_NAME: job["metadata"]["name"]},
        "ownerReferences": [{**owner, "controller": True}],
    }
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": status or {}})
    return ref


def ended(message: str | None, **state: Any) -> Manifest:
    """The status of a pod whose inspection has ended."""
    terminated = {"exitCode": 0, "reason": "Completed", **({} if message is None else {"message": message}), **state}
    return {"containerStatuses": [{"name": INSPECTION_CONTAINER, "state": {"terminated": terminated}}]}


def waiting(reason: str, message: str = "") -> Manifest:
    """The status of a pod whose container is not created yet."""
    state = {"waiting": {"reason": reason, "message": message}}
    return {"containerStatuses": [{"name": INSPECTION_CONTAINER, "state": state}]}


def fail(cluster: InMemoryCluster, job: Manifest) -> None:
    """Let the Job's time be over."""
    failed = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}
    cluster.edit(ref_of(job), lambda live: live["status"].update(conditions=[failed]), subresource="status")


def tell(cluster: InMemoryCluster, about: Manifest, reason: str, message: str) -> None:
    """Record an Event about an object."""
    involved = {"kind": about["kind"], "name": about["metadata"]["name"], "uid": uid_of(about)}
    metadata = {"namespace": about["metadata"]["namespace"], "name": f"{about['metadata']['name']}.{reason}"}
    event = {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": involved}
    cluster.create({**event, "reason": reason, "message": message, "lastTimestamp": "2026-01-01T00:00:00Z"})
