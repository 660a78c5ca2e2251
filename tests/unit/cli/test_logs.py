"""`llmservice logs`: of the pod that matters first, whole, and without secrets."""

import pytest
from click.testing import CliRunner, Result

from llmservice.cli.log_lines import Lines, redacted_text
from llmservice.cli.logs import command
from tests.builders import an_llmservice
from tests.unit.cli.small_cluster import Json, SmallCluster

UID = an_llmservice()["metadata"]["uid"]
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "QUJD\n" * 5 + "-----END RSA PRIVATE KEY-----\n"


def a_pod(name: str, created: str = "1", container: str = "engine", owner: str = "", **status: object) -> Json:
    """A pod whose container has this status."""
    return {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "labels": {"batch.kubernetes.io/job-name": "j"} if owner else {"llmservice.dev/name": "chat"},
            "creationTimestamp": f"2026-01-0{created}T00:00:00Z",
            "ownerReferences": [{"uid": owner, "controller": True}] if owner else [],
        },
        "spec": {"containers": [{"name": container}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": container, **status}]},
    }


READY: Json = {"ready": True, "restartCount": 0, "state": {"running": {}}}
STARTING: Json = {"ready": False, "restartCount": 0, "state": {"running": {}}}
CRASHES: Json = {
    "ready": False,
    "restartCount": 2,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": {"exitCode": 1}},
}
PULLING: Json = {"ready": False, "restartCount": 0, "state": {"waiting": {"reason": "ImagePullBackOff"}}}


@pytest.fixture
def cluster(small: SmallCluster) -> SmallCluster:
    small.objects = [an_llmservice(kind="LLMService")]
    return small


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["chat", *arguments])


@pytest.mark.parametrize(
    ("pods", "first"),
    [
        ([a_pod("old", "1", **READY), a_pod("new", "2", **READY)], "new"),
        ([a_pod("new", "2", **READY), a_pod("starts", "1", **STARTING)], "starts"),
        ([a_pod("starts", "3", **STARTING), a_pod("crashes", "1", **CRASHES), a_pod("new", "2", **READY)], "crashes"),
    ],
    ids=["the newest", "one that starts", "one that fails"],
)
def test_the_pod_that_matters_first_is_read(cluster: SmallCluster, pods: list[Json], first: str) -> None:
    cluster.objects += pods
    cluster.logs = {pod["metadata"]["name"]: f"log of {pod['metadata']['name']}\n" for pod in pods}
    result = run()
    assert (result.exit_code, result.stdout, first in result.stderr) == (0, f"log of {first}\n", True)


def test_all_have_the_name_of_their_pod_before_each_line(cluster: SmallCluster) -> None:
    cluster.objects += [a_pod("a", "1", **READY), a_pod("b", "2", **CRASHES)]
    cluster.logs = {"a": "one\ntwo\n", "b": "three\n"}
    assert run("--all").stdout == "b | three\na | one\na | two\n"
    assert run("--pod", "a").stdout == "one\ntwo\n"


def test_what_is_asked_for_is_bounded(cluster: SmallCluster) -> None:
    cluster.objects.append(a_pod("a", **CRASHES))
    cluster.logs = {"a": "x\n"}
    run("--tail", "7", "--previous", "--timestamps")
    query = cluster.asked[-1][1]
    assert (query["tailLines"], query["previous"], query["timestamps"]) == ("7", "true", "true")
    assert int(query["limitBytes"]) <= 2**20


def test_a_log_that_is_too_long_is_read_from_its_end(cluster: SmallCluster) -> None:
    cluster.objects.append(a_pod("a", **READY))
    cluster.logs = {"a": "x" * 2**20}
    run("--tail", "4")
    assert [query["tailLines"] for path, query in cluster.asked if path.endswith("/log")] == ["4", "2", "1"]


def test_what_a_node_says_of_a_log_that_it_removed_is_no_log(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def at_once(_: float) -> None:
        """The time between attempts does not matter."""

    monkeypatch.setattr("asyncio.sleep", at_once)
    cluster.objects.append(a_pod("a", **CRASHES))
    cluster.logs = {"a": "unable to retrieve container logs for containerd://0123\n"}
    result = run()
    assert (result.exit_code, result.stdout, "removed" in result.stderr) == (1, "", True)


def test_followed_lines_are_the_same(cluster: SmallCluster) -> None:
    cluster.objects.append(a_pod("a", **READY))
    cluster.logs = {"a": "one\nhf_abcdefghijklmnopqrstuvwxyz012345\nlast"}
    assert run("-f").stdout == "one\n[hidden]\nlast\n"
    assert cluster.asked[-1][1]["follow"] == "true"


def test_the_log_of_a_download_is_that_of_a_job_of_the_service(cluster: SmallCluster) -> None:
    labels = {"app.kubernetes.io/part-of": "llmservice", "app.kubernetes.io/component": "download"}
    for uid, owner in (("j1", UID), ("j2", "somebody")):
        metadata = {"name": uid, "namespace": "ml", "uid": uid, "labels": labels}
        owned = {**metadata, "ownerReferences": [{"uid": owner, "controller": True}]}
        cluster.objects += [{"kind": "Job", "metadata": owned}, a_pod(f"of-{uid}", "1", "download", uid, **STARTING)]
    cluster.logs = {"of-j1": "10 GB of 40\n", "of-j2": "not ours\n"}
    assert run("--of", "download").stdout == "10 GB of 40\n"


@pytest.mark.parametrize(
    ("pods", "options", "said"),
    [
        ([], [], "llmservice events chat"),
        ([a_pod("a", **PULLING)], [], "ImagePullBackOff"),
        ([a_pod("a", **READY)], ["--previous"], "--previous"),
        ([a_pod("a", **READY)], ["--of", "proxy"], "proxy"),
        ([a_pod("a", **READY)], ["--of", "download"], "download"),
        ([a_pod("a", **READY)], ["--pod", "b"], "a"),
    ],
)
def test_without_a_log_it_says_why(cluster: SmallCluster, pods: list[Json], options: list[str], said: str) -> None:
    cluster.objects += pods
    result = run(*options)
    assert (result.exit_code, result.stdout, said in result.stderr) == (1, "", True)


@pytest.mark.parametrize("options", [["--all", "--pod", "a"], ["-f", "--previous"], ["--tail", "0"], ["--of", "x"]])
def test_wrong_usage_asks_no_cluster(cluster: SmallCluster, options: list[str]) -> None:
    assert (run(*options).exit_code, cluster.asked) == (2, [])


def test_a_right_that_is_missing_is_named(cluster: SmallCluster) -> None:
    cluster.objects.append(a_pod("a", **READY))
    cluster.logs = {"a": "x\n"}
    cluster.forbidden = {"log"}
    result = run()
    assert (result.exit_code, "forbidden" in result.stderr) == (1, True)


def test_a_key_that_comes_in_pieces_is_hidden() -> None:
    for size in (3, 40, 77):
        lines = Lines()
        data = f"before\n{KEY}after\n".encode()
        shown = "".join(lines.take(data[at : at + size]) for at in range(0, len(data), size)) + lines.rest()
        assert ("QUJD" in shown, shown.startswith("before\n"), shown.endswith("after\n")) == (False, True, True)


def test_nothing_steers_the_terminal_and_long_lines_are_cut() -> None:
    shown = redacted_text("\x1b[31mred\x1b[0m\n" + "x" * 200_000 + "\nlast\n")
    first, second, last = shown.splitlines()
    assert (first, last) == ("red", "last")
    assert len(second) < 17_000
