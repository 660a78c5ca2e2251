"""`llmservice status`: against an API server of a few lines, with the rights of its caller."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from llmservice.cli.status import command
from tests.builders import an_llmservice
from tests.small_api_server import Answer, Asked
from tests.unit.cli.small_cluster import Json, SmallCluster

UID = an_llmservice()["metadata"]["uid"]


def conditions(**reasons: str) -> list[Json]:
    """`Ready="True Ready"`: status and reason; the message names the reason."""
    pairs = {kind: said.split() for kind, said in reasons.items()}
    return [
        {"type": kind, "status": status, "reason": reason, "message": f"because of {reason}"}
        for kind, (status, reason) in pairs.items()
    ]


GOOD = an_llmservice(
    status={
        "observedGeneration": 1,
        "replicaSummary": "2/2",
        "conditions": conditions(Ready="True Ready", Available="True Ready", Fits="False DoesNotFit"),
        "plan": {"engineVersion": "b11312", "image": "engine:1", "devices": 0, "maxModelLen": 8192, "maxNumSeqs": 4},
        "startup": {"last": {"totalSeconds": 130, "imageSeconds": 10, "loadSeconds": 120}},
        "weights": {"claim": "models", "bytes": 41_000_000_000},
    }
)
BAD = an_llmservice(
    metadata__name="bad",
    status={"observedGeneration": 1, "replicaSummary": "0/1", "conditions": conditions(Ready="False ClaimNotFound")},
)
EDITED = an_llmservice(metadata__name="edited", metadata__generation=2, status=GOOD["status"])
NEW = an_llmservice(metadata__name="new")
POD = {
    "kind": "Pod",
    "metadata": {
        "namespace": "ml",
        "name": "chat-1",
        "labels": {"llmservice.dev/name": "chat"},
        "creationTimestamp": "2026-01-01T00:00:00Z",
    },
    "spec": {"nodeName": "node-a"},
    "status": {
        "phase": "Running",
        "containerStatuses": [
            {"name": "engine", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
        ],
    },
}
EVENT = {
    "kind": "Event",
    "metadata": {"namespace": "ml", "name": "e"},
    "reason": "Started",
    "type": "Normal",
    "message": "in \x1b[31m2m10s\nand more",
    "lastTimestamp": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def cluster(small: SmallCluster) -> SmallCluster:
    small.objects = [GOOD, POD, EVENT]
    return small


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_those_that_need_a_look_come_first_each_with_what_is_said_of_it(cluster: SmallCluster) -> None:
    cluster.objects = [GOOD, BAD, EDITED, NEW]
    result = run()
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert [line.split()[1] for line in lines[1:] if not line.startswith("  ")] == ["bad", "edited", "new", "chat"]
    assert "because of ClaimNotFound" in lines[2]
    assert "NotObserved" in result.stdout


def test_one_is_a_screen_with_its_replicas_and_events(cluster: SmallCluster) -> None:
    result = run("chat")
    assert result.exit_code == 0
    for part in (
        "ml/chat",
        "2/2",
        "b11312, engine:1",
        "8192 tokens",
        "41.0 GB on claim models",
        "2m10s (image 10s",
        "Fits",
    ):
        assert part in result.stdout
    (pod,) = [line.split() for line in result.stdout.splitlines() if line.startswith("chat-1")]
    assert (pod[1], pod[2], pod[-1]) == ("CrashLoopBackOff", "3", "node-a")
    selectors = [query["fieldSelector"] for path, query in cluster.asked if path.endswith("/events")]
    assert selectors == [f"involvedObject.kind=LLMService,involvedObject.uid={UID}"]


def resting(reason: str = "Ready", **autoscaling: Any) -> Json:
    status = {"observedGeneration": 1, "conditions": conditions(Ready=f"True {reason}"), "autoscaling": autoscaling}
    return an_llmservice(status=status)


def line_of(name: str) -> str:
    (found,) = [line for line in run("chat").stdout.splitlines() if line.startswith(name)]
    return " ".join(found.split()[1:])


def test_its_schedule_is_told_with_what_follows(cluster: SmallCluster) -> None:
    night = {"name": "night", "minReplicas": 0, "maxReplicas": 2, "until": "2026-11-23T06:00:00Z"}
    cluster.objects = [resting(schedule=night)]
    assert line_of("schedule") == "night: 0 to 2 replicas, until 2026-11-23T06:00:00Z, then none"
    cluster.objects = [resting(schedule={"minReplicas": 1, "maxReplicas": 2})]
    assert line_of("schedule") == "none: 1 to 2 replicas"


def test_held_requests_are_counted_and_one_that_may_not_sleep_tells_of_no_rest(cluster: SmallCluster) -> None:
    cluster.objects = [resting(idle={"afterSeconds": 60, "held": 1})]
    assert line_of("idle").endswith("1 request is held")
    cluster.objects = [resting(idle={"afterSeconds": 60, "held": 2})]
    assert line_of("idle").endswith("2 requests are held")
    cluster.objects = [resting(idle={"afterSeconds": 60}, schedule={"minReplicas": 1, "maxReplicas": 2})]
    assert line_of("idle").startswith("awake")
    cluster.objects = [resting("Suspended", idle={"since": "2026-11-23T06:00:00Z"})]
    assert "asleep" not in run("chat").stdout


@pytest.mark.usefixtures("cluster")
def test_what_others_wrote_does_not_steer_the_terminal() -> None:
    text = run("chat").stdout
    assert ("\x1b" in text, "in 2m10s and more" in text) == (False, True)


def test_what_the_caller_may_not_list_is_left_out(cluster: SmallCluster) -> None:
    cluster.forbidden = {"pods", "events"}
    result = run("chat")
    assert (result.exit_code, "chat-1" in result.stdout, "2/2" in result.stdout) == (0, False, True)
    cluster.forbidden = {"llmservices"}
    result = run()
    assert (result.exit_code, result.stdout, "forbidden" in result.stderr) == (1, "", True)


def test_one_that_is_not_there_is_told_with_the_way_out(cluster: SmallCluster) -> None:
    cluster.objects = []
    result = run("chat")
    assert (result.exit_code, "llmservice status -A" in result.stderr) == (1, True)
    assert (run().exit_code, "kubectl apply" in run().stdout) == (0, True)


def test_json_has_the_same(cluster: SmallCluster) -> None:
    cluster.objects = [GOOD, BAD]
    states = json.loads(run("-o", "json").stdout)
    assert [(state["name"], state["reached"], state["reason"]) for state in states] == [
        ("chat", True, "Ready"),
        ("bad", False, "ClaimNotFound"),
    ]


def test_a_name_is_of_one_namespace() -> None:
    assert run("chat", "-A").exit_code == 2


def test_watching_ends_when_all_are_as_declared(cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.objects = [NEW]
    answer = cluster.answer

    def later(asked: Asked) -> Answer:
        found = answer(asked)
        cluster.objects = [GOOD]
        return found

    monkeypatch.setattr(cluster, "answer", later)
    monkeypatch.setattr("llmservice.cli.status._WATCH_SECONDS", 0.01)
    result = run("--watch")
    assert (result.exit_code, result.stdout.count("NAMESPACE")) == (0, 2)
