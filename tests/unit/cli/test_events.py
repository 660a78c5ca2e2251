"""`llmservice events`: those of a service and of all that belongs to it, in one order."""

import json

import pytest
from click.testing import CliRunner, Result

from llmservice.cli.events import command
from tests.builders import an_llmservice
from tests.unit.cli.small_cluster import Json, SmallCluster

UID = an_llmservice()["metadata"]["uid"]


def an_event(of: str, uid: str = "", minute: int = 0, kind: str = "Normal", message: str = "said") -> Json:
    what, _, name = of.partition("/")
    return {
        "kind": "Event",
        "metadata": {"name": f"{name}.{minute}", "namespace": "ml", "uid": f"e{minute}"},
        "involvedObject": {"kind": what, "name": name, "uid": uid},
        "type": kind,
        "reason": f"At{minute}",
        "message": message,
        "count": 3,
        "source": {"component": "kubelet"},
        "lastTimestamp": f"2026-01-01T00:{minute:02d}:00Z",
    }


def owned(kind: str, name: str) -> Json:
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": "ml", "uid": name, "labels": {"llmservice.dev/name": "chat"}},
    }


@pytest.fixture
def cluster(small: SmallCluster) -> SmallCluster:
    small.objects = [
        an_llmservice(kind="LLMService"),
        owned("ReplicaSet", "chat-7f"),
        owned("Pod", "chat-7f-a"),
        an_event("Pod/chat-7f-a", "chat-7f-a", 4, "Warning", "token=abcdefgh1234 \x1b[31mred"),
        an_event("LLMService/chat", UID, 1),
        an_event("Pod/chat-7f-gone", "gone", 3),
        an_event("Pod/chat-2-7f-a", "other", 2),
        an_event("LLMService/other", "o", 5),
    ]
    return small


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["chat", *arguments])


@pytest.mark.usefixtures("cluster")
def test_those_of_the_service_its_pods_and_pods_that_are_gone_are_in_one_order() -> None:
    result = run()
    assert result.exit_code == 0
    assert [line.split()[-3].startswith("At") or line.split()[2] for line in result.stdout.splitlines()[1:]]
    assert [each["reason"] for each in json.loads(run("-o", "json").stdout)] == ["At1", "At3", "At4"]


@pytest.mark.usefixtures("cluster")
def test_wide_has_more_columns_and_warnings_can_be_alone() -> None:
    heading, line = run("--warnings", "-o", "wide").stdout.splitlines()
    assert ("TIMES" in heading, "kubelet" in line, "At4" in line) == (True, True, True)
    assert [each["reason"] for each in json.loads(run("--most", "1", "-o", "json").stdout)] == ["At4"]


@pytest.mark.usefixtures("cluster")
def test_messages_are_redacted_and_do_not_steer_the_terminal() -> None:
    text = run().stdout
    assert ("abcdefgh1234" in text, "\x1b" in text, "red" in text) == (False, False, True)


def test_what_may_not_be_listed_is_left_out(cluster: SmallCluster) -> None:
    cluster.forbidden = {"pods", "replicasets", "jobs"}
    assert [each["reason"] for each in json.loads(run("-o", "json").stdout)] == ["At1"]
    cluster.forbidden = {"events"}
    assert (run().exit_code, "forbidden" in run().stderr) == (1, True)


def test_none_is_said(cluster: SmallCluster) -> None:
    cluster.objects = cluster.objects[:1]
    assert (run().exit_code, len(run().stdout.splitlines())) == (0, 1)
    assert json.loads(run("-o", "json").stdout) == []


def test_data_cannot_be_watched() -> None:
    assert run("-w", "-o", "json").exit_code == 2
