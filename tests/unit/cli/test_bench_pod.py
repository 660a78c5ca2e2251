"""A Job of the bench whose pod does not start, and one that is stopped before it could."""

import asyncio
from typing import Any

import pytest

from llmservice.cli import bench_in_cluster, bench_pod
from llmservice.cli.bench_in_cluster import JobRun
from llmservice.cluster.transport.connection import connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.errors import Unavailable
from tests.unit.cli.small_cluster import SmallCluster

JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "bench", "namespace": "ml"}}
UID = "uid-of-the-job"


@pytest.fixture
def cluster(small: SmallCluster, monkeypatch: pytest.MonkeyPatch) -> SmallCluster:
    """Makes the Job; whoever waits for its pod looks often."""
    small.on_post = lambda job: {**job, "metadata": {**job["metadata"], "uid": UID}}
    monkeypatch.setattr(bench_pod, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(bench_in_cluster, "_STOP_SECONDS", 0.1)
    return small


def a_pod(**status: Any) -> dict[str, Any]:
    labels = {"batch.kubernetes.io/controller-uid": UID}
    return {"kind": "Pod", "metadata": {"name": "bench-1", "namespace": "ml", "labels": labels}, "status": status}


async def ran(cluster: SmallCluster, *, stopped: bool = False) -> object:
    async with connect(await load_credentials(kubeconfig=str(cluster.kubeconfig))) as connection:
        run = JobRun(connection=connection, job=JOB)
        if stopped:
            run.stop.set()
        return await run.run()


async def test_an_image_that_cannot_be_pulled_ends_it_with_the_reason(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_pod, "_PATIENCE_SECONDS", {"ErrImagePull": 0.05})
    waiting = {"name": "bench", "state": {"waiting": {"reason": "ErrImagePull", "message": "no\x1b[2J such\nimage"}}}
    cluster.objects = [a_pod(phase="Pending", containerStatuses=[waiting])]
    with pytest.raises(Unavailable) as refused:
        await ran(cluster)
    assert refused.value.reason == "JobNotStarted"
    assert cluster.deleted == ["bench"]
    told = capsys.readouterr().err
    assert told.count("ErrImagePull: no such image") == 1


async def test_one_that_is_stopped_before_it_starts_is_deleted_and_has_no_result(cluster: SmallCluster) -> None:
    async with asyncio.timeout(20):
        assert await ran(cluster, stopped=True) is None
    assert set(cluster.deleted) == {"bench"}


async def test_a_pod_that_ended_without_a_word_is_an_error(cluster: SmallCluster) -> None:
    cluster.objects, cluster.logs = [a_pod(phase="Failed")], {"bench-1": ""}
    with pytest.raises(Unavailable) as nothing:
        await ran(cluster)
    assert nothing.value.reason == "JobFailed"
    assert cluster.deleted == ["bench"]
