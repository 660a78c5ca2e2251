"""`llmservice explain`: a text for people, JSON for programs, and one line for what stands in the way."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from llmservice.cli.explain import command
from llmservice.cli.explanation import as_text
from llmservice.controllers.endpoints.certificates import sign
from llmservice.reconcilers.scaling.explaining import explained
from tests.builders import an_llmservice
from tests.scenarios.scaled_world import UNREACHABLE, ScaledWorld
from tests.unit.cli.small_cluster import SmallCluster


def an_answer() -> dict[str, Any]:
    world = ScaledWorld().scaled(minimum=2)
    world.source.by_pod = {"chat-1-01": 9.0}
    world.source.unreadable = {"chat-1-02": UNREACHABLE}
    world.round()
    answer: dict[str, Any] = json.loads(json.dumps(explained(world.state, world.seconds() + 4)))
    return answer


ANSWERS: dict[str, tuple[int, Any]] = {
    "/explain/ml/chat": (200, an_answer()),
    "/explain/ml/other": (404, {"message": "ml/other is not scaled"}),
    "/explain/foreign/text": (200, "ok"),
    "/explain/foreign/list": (500, ["failed"]),
    "/explain/foreign/object": (200, {"status": "ok"}),
}


SHOWN: list[str | None] = []
"""The Authorization header of each request."""


class _Operator(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        SHOWN.append(self.headers.get("Authorization"))
        status, body = ANSWERS[self.path]
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


def _serving(certificate: Path | None = None) -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), _Operator)
    if certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    SHOWN.clear()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture
def operator() -> Iterator[str]:
    """The address of an operator that answers everybody on this machine."""
    for port in _serving():
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[str]:
    """The address of one with a certificate that nobody can check."""
    certificate = tmp_path / "certificate.pem"
    certificate.write_bytes(sign())
    for port in _serving(certificate):
        yield f"https://127.0.0.1:{port}"


@pytest.fixture
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    """Makes a kubeconfig with this user the current one."""

    def make(user: dict[str, str]) -> None:
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "ml"}}],
            "current-context": "c",
        }
        (tmp_path / "kubeconfig").write_text(json.dumps(content))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))

    return make


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_it_prints_decision_pods_and_steps(operator: str) -> None:
    result = run("chat", "-n", "ml", "--operator", operator)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("ml/chat: llamacpp b")
    assert lines[0].endswith("2 to 8 replicas, Threshold from Pods, mode Active, every 10 s")
    assert lines[1].startswith("2 → 5: running 18 in all")
    assert any(line.split() == ["running", "4.5", "18", "in", "all,", "target", "4", "each"] for line in lines)
    assert any(line.startswith("chat-1-02") and line.endswith("connection refused: see its log") for line in lines)


def test_the_namespace_is_that_of_the_context(operator: str, kubeconfig: Callable[[dict[str, str]], None]) -> None:
    kubeconfig({"token": "t"})
    assert run("chat", "--operator", operator).stdout.startswith("ml/chat: ")


def test_without_a_kubeconfig_only_the_error_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    result = run("chat")
    assert (result.exit_code, result.stderr.count("\n"), caplog.records) == (1, 1, [])


def test_json_is_the_answer_as_it_came(operator: str) -> None:
    result = run("chat", "-n", "ml", "--operator", operator + "/", "-o", "json")
    assert json.loads(result.stdout) == ANSWERS["/explain/ml/chat"][1]


def test_what_is_not_scaled_is_one_line_and_exit_code_1(operator: str) -> None:
    result = run("other", "-n", "ml", "--operator", operator)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "llmservice: ml/other is not scaled\n"


@pytest.mark.parametrize("name", ["text", "list", "object"])
def test_an_answer_of_something_else_is_one_line_with_the_way_out(operator: str, name: str) -> None:
    result = run(name, "-n", "foreign", "--operator", operator)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "not what an operator answers; give the address of an operator's endpoint" in result.stderr


def test_an_operator_that_is_not_there_is_one_line_with_the_way_out() -> None:
    result = run("chat", "--operator", "http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "give the address of an operator's endpoint" in result.stderr


@pytest.mark.parametrize("address", ["https://[", "http://[::1"])
def test_an_address_that_is_none_is_one_line_and_wrong_usage(address: str) -> None:
    result = run("chat", "--operator", address)
    assert (result.exit_code, result.stderr.splitlines()) == (2, [result.stderr.strip()])
    assert result.stderr.startswith(f"llmservice: --operator: {address}: ")


def test_a_token_from_a_file_is_shown_by_https(guarded: str, tmp_path: Path) -> None:
    """Without any kubeconfig."""
    (tmp_path / "token").write_text("from-a-file\n")
    result = run("chat", "-n", "ml", "--operator", guarded, "--token-file", str(tmp_path / "token"))
    assert result.exit_code == 0, result.stderr
    assert SHOWN == ["Bearer from-a-file"]


def test_else_the_token_of_the_kubeconfig_is_shown(guarded: str, kubeconfig: Callable[[dict[str, str]], None]) -> None:
    kubeconfig({"token": "of-the-kubeconfig"})
    assert run("chat", "-n", "ml", "--operator", guarded).exit_code == 0
    assert SHOWN == ["Bearer of-the-kubeconfig"]


def test_a_kubeconfig_without_a_token_is_told_with_the_way_out(
    guarded: str, kubeconfig: Callable[[dict[str, str]], None]
) -> None:
    for user in ({}, {"username": "jane", "password": "secret"}):
        kubeconfig(user)
        result = run("chat", "-n", "ml", "--operator", guarded)
        assert result.exit_code == 1
        assert "add --as-service-account NAMESPACE/NAME" in result.stderr
    assert SHOWN == []


def test_no_token_is_shown_by_plain_http(
    operator: str, kubeconfig: Callable[[dict[str, str]], None], tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("from-a-file")
    result = run("chat", "-n", "ml", "--operator", operator, "--token-file", str(tmp_path / "token"))
    assert (result.exit_code, SHOWN) == (2, [])
    assert "a token is shown by HTTPS only" in result.stderr
    kubeconfig({"token": "of-the-kubeconfig"})
    assert run("chat", "-n", "ml", "--operator", operator).exit_code == 0
    assert SHOWN == [None]


def test_elsewhere_than_on_this_machine_the_certificate_is_checked(guarded: str, tmp_path: Path) -> None:
    """The name stands for another machine: only the literal loopback addresses and localhost go unchecked."""
    (tmp_path / "token").write_text("from-a-file")
    port = guarded.rpartition(":")[2]
    for host, option in (("127.0.0.1.nip.invalid", ()), ("127.0.0.1", ("--operator-ca", str(tmp_path / "absent")))):
        address = ("--operator", f"https://{host}:{port}", "--token-file", str(tmp_path / "token"))
        assert run("chat", "-n", "ml", *address, *option).exit_code == 1
    assert SHOWN == []


@pytest.mark.parametrize(
    ("content", "words"), [("", "is empty: kubectl create token"), (None, "--token-file: cannot be read")]
)
def test_a_file_without_a_token_is_told(guarded: str, tmp_path: Path, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / "token").write_text(content)
    result = run("chat", "--operator", guarded, "--token-file", str(tmp_path / "token"))
    assert (result.exit_code, SHOWN) == (1, [])
    assert words in result.stderr


def test_without_credentials_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "nowhere.yaml")
    result = run("chat")
    assert result.exit_code == 1
    assert "set KUBECONFIG" in result.stderr


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    lines = as_text(an_answer()).splitlines()
    header, first = next((line, lines[number + 1]) for number, line in enumerate(lines) if line.startswith("POD"))
    assert header.index("PHASE") == first.index("Ready")


def test_a_service_that_is_not_scaled_now_has_a_text_too() -> None:
    answer = {"namespace": "ml", "name": "chat", "periodSeconds": 10.0, "conditions": [], "reported": {}}
    assert as_text(answer) == "ml/chat: not scaled now, otherwise every 10 s"


def _explained(small: SmallCluster, *options: str, **fields: Any) -> Result:
    spec = {f"spec__{name}": value for name, value in fields.items()}
    status = {
        "autoscaling": {"message": "2 replicas carry the load"},
        "conditions": [{"type": "Ready", "reason": "Up"}],
    }
    small.objects = [an_llmservice(kind="LLMService", status=status, **spec), *small.objects]
    return CliRunner().invoke(command, ["chat", *options])


def _a_deployment(manager: str = "llmservice-operator") -> dict[str, Any]:
    owner = {"manager": manager, "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    metadata = {"name": "chat", "namespace": "ml", "managedFields": [owner]}
    return {"kind": "Deployment", "metadata": metadata, "spec": {"replicas": 3}, "status": {"readyReplicas": 2}}


@pytest.mark.parametrize(
    ("fields", "manager", "by"),
    [
        ({"suspend": True}, "llmservice-operator", "spec.suspend"),
        ({"replicas": 3}, "llmservice-operator", "spec.replicas"),
        ({}, "llmservice-operator", "the default"),
        ({}, "an-autoscaler", "another writer"),
    ],
)
def test_of_one_that_is_not_autoscaled_it_says_who_sets_the_replicas(
    small: SmallCluster, fields: dict[str, Any], manager: str, by: str
) -> None:
    small.objects = [_a_deployment(manager)]
    result = _explained(small, "-o", "json", **fields)
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["held"]["by"]) == (0, by)
    assert answer["replicas"] == {"desired": 3, "ready": 2}
    assert (manager in answer["held"]["message"]) == (by == "another writer")
    assert not any("proxy" in path for path, _ in small.asked)


def test_a_deployment_that_is_not_there_or_may_not_be_read_is_said(small: SmallCluster) -> None:
    assert json.loads(_explained(small, "-o", "json").stdout)["held"]["by"] == "nothing"
    small.forbidden = {"deployments"}
    assert json.loads(_explained(small, "-o", "json").stdout)["held"]["by"] == "unknown"
    assert "not autoscaled" in _explained(small).stdout


def test_with_the_operator_away_its_last_word_is_told(small: SmallCluster) -> None:
    result = _explained(small, autoscaling={"maxReplicas": 4})
    assert (result.exit_code, result.stdout) == (1, "")
    assert ("2 replicas carry the load" in result.stderr, "llmservice doctor" in result.stderr) == (True, True)


def test_an_operator_that_does_not_scale_it_is_helped_by_the_cluster(small: SmallCluster, operator: str) -> None:
    ANSWERS["/explain/ml/chat-2"] = (404, {"message": "ml/chat-2 is not scaled"})
    small.objects = [an_llmservice(kind="LLMService", metadata__name="chat-2", spec__replicas=2)]
    result = CliRunner().invoke(command, ["chat-2", "--operator", operator])
    assert (result.exit_code, "spec.replicas says 2" in result.stdout) == (0, True)
