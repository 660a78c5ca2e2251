"""`llmservice status`: against an API server of a few lines, with the rights of its caller."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner, Result

from llmservice.cli.status import command
from tests.builders import an_llmservice

Json = dict[str, Any]
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
    "metadata": {
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
    "metadata": {"name": "e"},
    "reason": "Started",
    "type": "Normal",
    "message": "in \x1b[31m2m10s\nand more",
    "lastTimestamp": "2026-01-01T00:00:00Z",
}


class Cluster:
    """What the API server has, what it forbids, and what it was asked."""

    def __init__(self) -> None:
        self.services: list[Json] = [GOOD]
        self.forbidden: set[str] = set()
        self.asked: list[str] = []

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, Json]:
        kind = next((kind for kind in ("llmservices", "pods", "events") if f"/{kind}" in path), "")
        self.asked.append(f"{kind} {query.get('fieldSelector', query.get('labelSelector', ['']))[0]}")
        if kind in self.forbidden:
            return 403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": f"{kind} is forbidden"}
        name = path.partition("/llmservices/")[2]
        if name:
            found = next((each for each in self.services if each["metadata"]["name"] == name), None)
            return (200, found) if found else (404, {"kind": "Status", "code": 404, "reason": "NotFound"})
        items = {"llmservices": self.services, "pods": [POD], "events": [EVENT]}[kind]
        return 200, {"metadata": {"resourceVersion": "1"}, "items": items}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    has = Cluster()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            code, body = has.answer(url.path, parse_qs(url.query))
            data = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "ml"}}],
        "current-context": "c",
    }
    (tmp_path / "kubeconfig").write_text(json.dumps(content))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    yield has
    server.shutdown()
    server.server_close()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_those_that_need_a_look_come_first_each_with_what_is_said_of_it(cluster: Cluster) -> None:
    cluster.services = [GOOD, BAD, EDITED, NEW]
    result = run()
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert [line.split()[1] for line in lines[1:] if not line.startswith("  ")] == ["bad", "edited", "new", "chat"]
    assert "because of ClaimNotFound" in lines[2]
    assert "NotObserved" in result.stdout


def test_one_is_a_screen_with_its_replicas_and_events(cluster: Cluster) -> None:
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
    assert f"events involvedObject.kind=LLMService,involvedObject.uid={UID}" in cluster.asked


@pytest.mark.usefixtures("cluster")
def test_what_others_wrote_does_not_steer_the_terminal() -> None:
    text = run("chat").stdout
    assert ("\x1b" in text, "in 2m10s and more" in text) == (False, True)


def test_what_the_caller_may_not_list_is_left_out(cluster: Cluster) -> None:
    cluster.forbidden = {"pods", "events"}
    result = run("chat")
    assert (result.exit_code, "chat-1" in result.stdout, "2/2" in result.stdout) == (0, False, True)
    cluster.forbidden = {"llmservices"}
    result = run()
    assert (result.exit_code, result.stdout, "forbidden" in result.stderr) == (1, "", True)


def test_one_that_is_not_there_is_told_with_the_way_out(cluster: Cluster) -> None:
    cluster.services = []
    result = run("chat")
    assert (result.exit_code, "llmservice status -A" in result.stderr) == (1, True)
    assert (run().exit_code, "kubectl apply" in run().stdout) == (0, True)


def test_json_has_the_same(cluster: Cluster) -> None:
    cluster.services = [GOOD, BAD]
    states = json.loads(run("-o", "json").stdout)
    assert [(state["name"], state["reached"], state["reason"]) for state in states] == [
        ("chat", True, "Ready"),
        ("bad", False, "ClaimNotFound"),
    ]


def test_a_name_is_of_one_namespace() -> None:
    assert run("chat", "-A").exit_code == 2


def test_watching_ends_when_all_are_as_declared(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.services = [NEW]
    answer = cluster.answer

    def later(path: str, query: dict[str, list[str]]) -> tuple[int, Json]:
        found = answer(path, query)
        cluster.services = [GOOD]
        return found

    monkeypatch.setattr(cluster, "answer", later)
    monkeypatch.setattr("llmservice.cli.status._WATCH_SECONDS", 0.01)
    result = run("--watch")
    assert (result.exit_code, result.stdout.count("NAMESPACE")) == (0, 2)
