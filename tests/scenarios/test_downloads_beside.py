"""Adapters and draft models on the model's claim: downloaded beside it, once, before anything is started."""

from typing import Any

from llmservice.models.download_answer import DownloadedModel
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.objects.references import Manifest, ref_of
from tests.scenarios.downloading import COMMIT, SHARED, DownloadWorld, a_download, failure

LAW: dict[str, Any] = {"name": "law", "uri": "hf://tiny/law", "file": "law.gguf", "revision": "v2"}
TAX: dict[str, Any] = {"name": "tax", "uri": "s3://bucket/tax.gguf"}
LAW_PATH = f"huggingface/hub/models--tiny--law/snapshots/{COMMIT}/law.gguf"
TAX_PATH = "buckets/s3/bucket/tax.gguf"


def jobs(world: DownloadWorld) -> dict[str, Manifest]:
    """The Jobs by what they download."""
    return {job["spec"]["template"]["spec"]["containers"][0]["args"][-1]: job for job in world.jobs()}


def answers(world: DownloadWorld, uri: str, result: Any) -> None:
    """One Job of several runs to its end."""
    others = {name: job for name, job in jobs(world).items() if name != uri}
    for job in others.values():
        world.cluster.remove(ref_of(job))
    world.answers(result)
    for job in others.values():
        world.cluster.create({**job, "metadata": {**job["metadata"], "uid": None, "resourceVersion": None}})


def there(path: str) -> DownloadedModel:
    return DownloadedModel(path=path, commit=COMMIT, bytes=1000, files=1, seconds=1.0)


def test_what_is_loaded_beside_the_model_is_downloaded_before_anything_is_started() -> None:
    world = a_download(spec__adapters=[LAW])
    world.passes()
    assert list(jobs(world)) == ["hf://tiny/open"]
    world.answers()
    world.passes()
    world.passes()
    assert set(jobs(world)) == {"hf://tiny/open", "hf://tiny/law"}
    arguments = jobs(world)["hf://tiny/law"]["spec"]["template"]["spec"]["containers"][0]["args"]
    assert {"--revision=v2", "--file=law.gguf", "--format=gguf"} <= set(arguments)
    assert not world.exists("Deployment")
    assert world.get("LLMService")["status"]["weights"]["path"]
    answers(world, "hf://tiny/law", there(LAW_PATH))
    world.serves()
    args = world.get("Deployment")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert f"/models/{LAW_PATH}:0" in args
    world.writes()
    assert world.pass_once() is None
    assert world.writes() == []


def test_another_adapter_is_downloaded_alone() -> None:
    world = a_download(spec__adapters=[LAW])
    world.passes()
    world.answers()
    world.passes()
    world.passes()
    answers(world, "hf://tiny/law", there(LAW_PATH))
    world.serves()
    for job in world.jobs():
        world.cluster.remove(ref_of(job))
    world.apply(**SHARED, spec__adapters=[LAW, TAX])
    world.passes()
    world.passes()
    assert list(jobs(world)) == ["s3://bucket/tax.gguf"]
    world.answers(there(TAX_PATH))
    world.passes()
    world.reconcile()
    args = world.get("Deployment")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert f"/models/{LAW_PATH}:0,/models/{TAX_PATH}:0" in args


def test_an_adapter_that_cannot_be_downloaded_is_told_of_and_what_runs_goes_on() -> None:
    world = a_download()
    world.passes()
    world.answers()
    world.serves()
    world.apply(**SHARED, spec__adapters=[LAW])
    world.passes()
    world.passes()
    answers(world, "hf://tiny/law", failure(DownloadFailureReason.REPOSITORY_UNKNOWN))
    world.passes()
    world.passes()
    ready = world.condition("Ready")
    assert ready["status"] == "False"
    assert "tiny/law" in ready["message"]
    assert world.condition("Available")["status"] == "True"
