"""`llmservice wake`: what it writes, what it waits for, and where it changes nothing."""

from typing import Any

import pytest
from click.testing import CliRunner, Result

from llmservice.cli import wake
from llmservice.cluster.api_server import ApiServer
from llmservice.objects.references import Manifest
from tests.builders import an_llmservice
from tests.unit.cli.small_cluster import SmallCluster
from tests.unit.cli.test_status import conditions

ZERO = {"minReplicas": 0, "maxReplicas": 1}
ASLEEP: dict[str, Any] = {
    "spec__autoscaling": ZERO,
    "status": {
        "observedGeneration": 1,
        "replicaSummary": "0/0",
        "conditions": conditions(Ready="True Asleep"),
        "autoscaling": {"idle": {"afterSeconds": 600, "since": "2099-01-01T00:00:00Z"}},
    },
}
AWAKE: dict[str, Any] = {
    "spec__autoscaling": ZERO,
    "status": {"observedGeneration": 1, "conditions": conditions(Ready="True Ready")},
}


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Manifest]:
    """What is patched, instead of a write."""
    found: list[Manifest] = []

    async def overwrite(_: ApiServer, manifest: Manifest, *, manager: str) -> Manifest:
        assert manager == "llmservice-wake"
        found.append(manifest)
        return manifest

    monkeypatch.setattr(ApiServer, "overwrite", overwrite)
    monkeypatch.setattr(wake, "_LOOK_SECONDS", 0.01)
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(wake.command, arguments)


def test_the_time_is_later_than_the_sleep_whatever_clock_it_is_from(
    small: SmallCluster, written: list[Manifest]
) -> None:
    small.objects = [an_llmservice(**ASLEEP)]
    result = run("chat", "--no-wait")
    assert (result.exit_code, "asked for" in result.stdout) == (0, True)
    (patch,) = written
    assert patch["metadata"]["annotations"] == {"llmservice.dev/wake": "2099-01-01T00:00:01Z"}
    assert "spec" not in patch


@pytest.mark.usefixtures("written")
def test_it_waits_until_a_replica_is_ready(small: SmallCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [an_llmservice(**ASLEEP), an_llmservice(**ASLEEP), an_llmservice(**AWAKE)]
    starting = {**AWAKE, "status": {"observedGeneration": 1, "conditions": conditions(Ready="False Loading")}}
    bodies.insert(2, an_llmservice(**starting))
    answer = SmallCluster.answer

    def next_body(cluster: SmallCluster, *asked: Any) -> Any:
        cluster.objects = [bodies.pop(0) if len(bodies) > 1 else bodies[0]]
        return answer(cluster, *asked)

    monkeypatch.setattr(SmallCluster, "answer", next_body)
    small.objects = bodies[:1]
    result = run("chat")
    assert (result.exit_code, "Ready after" in result.stdout) == (0, True)
    assert [word in result.stderr for word in ("waking", "Loading")] == [True, True]


@pytest.mark.usefixtures("written")
def test_what_stalls_is_not_waited_for(small: SmallCluster) -> None:
    stalled = conditions(Ready="False DoesNotFit", Stalled="True DoesNotFit")
    small.objects = [an_llmservice(**{**AWAKE, "status": {"observedGeneration": 1, "conditions": stalled}})]
    result = run("chat")
    assert (result.exit_code, "DoesNotFit" in result.stderr) == (1, True)


@pytest.mark.usefixtures("written")
def test_not_ready_in_time(small: SmallCluster) -> None:
    status = {"observedGeneration": 1, "conditions": conditions(Ready="False Loading")}
    small.objects = [an_llmservice(**{**AWAKE, "status": status})]
    result = run("chat", "--timeout=1")
    assert (result.exit_code, "llmservice status chat" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("changes", "word"),
    [({}, "never sleeps"), ({"spec__suspend": True, "spec__autoscaling": ZERO}, "suspended")],
)
def test_where_waking_changes_nothing_nothing_is_written(
    small: SmallCluster, written: list[Manifest], changes: dict[str, Any], word: str
) -> None:
    small.objects = [an_llmservice(**changes)]
    result = run("chat")
    assert (result.exit_code, word in result.stderr, written) == (1, True, [])
