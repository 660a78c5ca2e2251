"""The operator is killed in the middle of a download and of a rollback; its successor ends what it began, once."""

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from tests.cluster.conftest import box
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_image import IMAGE, operator_archive
from tests.cluster.services import ask
from tests.faults.proxy import Entry
from tests.faults.rules import Action, Rule
from tests.faults.stories import DOWNLOAD, FILE, ROLLBACK, SIZE, padded, status_of, told
from tests.faults.trial import Trial
from tests.local_hub.local_hub import LocalHub, local_hub
from tests.local_hub.repository import Repository

# The host reaches the sandbox's pods, and they reach the hub on it.
pytestmark = [pytest.mark.cluster, pytest.mark.faults, pytest.mark.sandbox]

__all__ = ["box"]

BOTH_SIDES = pytest.mark.parametrize("action", [Action.CUT_BEFORE, Action.CUT_AFTER], ids=["before", "after"])


@pytest.fixture
def hub(box: Sandbox) -> Iterator[LocalHub]:
    """A hub from which an engine needs forty seconds to load, three times what it may take."""
    with local_hub({"tiny/open": Repository(files={FILE: padded()})}, host=box.bridge_address) as running:
        running.bytes_per_second, running.redirects = SIZE / 40, False
        yield running


@pytest.fixture
def story(trial: Trial, box: Sandbox, hub: LocalHub) -> Iterator[Kube]:
    """A namespace with the tiny model, an empty claim, and an operator that knows the hub; as it was afterwards."""
    with trial.operator.told(LLMSERVICE_HF_ENDPOINT=hub.url, LLMSERVICE_DOWNLOAD_IMAGE=IMAGE):
        with trial.fresh() as kube:
            box.model_volume(kube.namespace, "models")
            volume = box.cache_volume(kube.namespace, "weights")
            kube.create(_claim())
            yield kube
            kube.delete("LLMService", "chat")
            kube.kubectl("delete", "--wait=false", f"persistentvolume/{volume}")
        trial.proxy.heal()


def _claim() -> Body:
    spec = {"accessModes": ["ReadWriteMany"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "weights"}, "spec": spec}


def of(resource: str, journal: list[Entry]) -> list[Entry]:
    """What was made or changed of this kind."""
    return [entry for entry in journal if entry.accepted and entry.call.resource == resource]


def judge_rollback(kube: Kube, journal: list[Entry] | None) -> None:
    """There and back, once each; no engine was restarted, and what served answers."""
    assert journal is not None, "the operator was not killed"
    templates = [entry.call.body["spec"]["template"]["spec"] for entry in of("deployments", journal)]
    assert [FILE in spec["containers"][0]["args"] for spec in templates] == [True, False]
    failed = status_of(kube)["rollout"]["failed"]
    assert (failed["generation"], failed["reason"]) == (2, "StartupTimedOut")
    ready = [pod for pod in kube.list("Pod", "llmservice.dev/name=chat") if "deletionTimestamp" not in pod["metadata"]]
    assert sum(each["restartCount"] for pod in ready for each in pod["status"]["containerStatuses"]) == 0
    assert ask(kube)["choices"]


@BOTH_SIDES
@pytest.mark.parametrize("nth", [1, 2], ids=["change", "way back"])
def test_killed_at_a_write_of_a_rollback(trial: Trial, story: Kube, nth: int, action: Action) -> None:
    rule = Rule(action=action, writes=True, resource="deployments", nth=nth)
    judge_rollback(story, told(trial, story, ROLLBACK, rule))


def test_killed_when_it_was_said_that_the_change_failed(trial: Trial, story: Kube) -> None:
    """What is given up stands in the status before anything goes back."""
    journal = told(trial, story, ROLLBACK, lambda status: "failed" in status.get("rollout", {}))
    judge_rollback(story, journal)


def judge_download(kube: Kube, hub: LocalHub, journal: list[Entry] | None) -> None:
    """One Job and one Deployment, made once, and the files were sent once."""
    assert journal is not None, "the operator was not killed"
    made = [sum(entry.status == 201 for entry in of(kind, journal)) for kind in ("jobs", "deployments")]
    assert made == [1, 1]
    assert hub.served <= 2 * SIZE
    assert ask(kube)["choices"]


@pytest.fixture
def quick_hub(hub: LocalHub, box: Sandbox) -> LocalHub:
    """The hub for a download of ten seconds, with the image that downloads on the node."""
    assert box.load_image(operator_archive()) == [IMAGE]
    hub.bytes_per_second, hub.redirects = SIZE / 10, True
    return hub


@BOTH_SIDES
@pytest.mark.parametrize("resource", ["jobs", "deployments"])
def test_killed_at_a_write_of_a_download(
    trial: Trial, quick_hub: LocalHub, story: Kube, resource: str, action: Action
) -> None:
    rule = Rule(action=action, writes=True, resource=resource)
    judge_download(story, quick_hub, told(trial, story, DOWNLOAD, rule))


def test_killed_while_a_model_is_downloaded(trial: Trial, quick_hub: LocalHub, story: Kube) -> None:
    journal = told(trial, story, DOWNLOAD, lambda _: quick_hub.served > SIZE / 4)
    judge_download(story, quick_hub, journal)
