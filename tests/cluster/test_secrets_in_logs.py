"""Secrets planted wherever one could pass: none comes out in the log, in events, in status or in metrics."""

import json
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator
from tests.cluster.service_account import kubeconfig_with_token, withdraw
from tests.cluster.services import a_tiny_service
from tests.ports import free_port

pytestmark = pytest.mark.cluster

MARK = "Zq7PLANTED"
TOKEN = f"hf_{MARK}aBcDeFgHiJkLmNoP"
ACCOUNT = "spied-on"


@dataclass(frozen=True, kw_only=True)
class Spied:
    """An operator of its own for one namespace, at the most talkative level, and the token it shows the API server."""

    operator: Operator
    token: str
    port: int

    def log(self) -> str:
        """All that it wrote."""
        return self.operator.log.read_text()

    def metrics(self) -> str:
        """What Prometheus would read."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as response:
            text: str = response.read().decode()
            return text


@pytest.fixture(params=["text", "json"])
def spied(request: pytest.FixtureRequest, kube: Kube, operator: Operator, tmp_path: Path) -> Iterator[Spied]:
    """It takes the place of the operator that the other tests share."""
    kubeconfig, token = kubeconfig_with_token(kube, ACCOUNT, tmp_path)
    port = free_port()
    environment = {
        "KUBECONFIG": str(kubeconfig),
        "LLMSERVICE_NAMESPACES": kube.namespace,
        "LLMSERVICE_LOG_LEVEL": "debug",
        "LLMSERVICE_LOG_FORMAT": request.param,
        "LLMSERVICE_METRICS_PORT": str(port),
        "LLMSERVICE_METRICS_AUTH": "none",
    }
    operator.stop()
    own = Operator(environment, tmp_path / "operator.log")
    try:
        own.start()
        yield Spied(operator=own, token=token, port=port)
    finally:
        own.stop()
        operator.start()


@pytest.mark.usefixtures("models")
def test_no_planted_secret_comes_out_anywhere(kube: Kube, spied: Spied) -> None:
    live_through_trouble(kube)
    told = [json.dumps(everything_told(kube)), spied.metrics()]
    be_refused(kube, spied)
    told.append(spied.log())
    for text in told:
        assert MARK not in text, around(text, MARK)
        assert spied.token not in text
        assert spied.token.rpartition(".")[2] not in text
    assert "[hidden]" in told[0]


def live_through_trouble(kube: Kube) -> None:
    """Served, refused, crashed in two ways, deleted: each with a secret in a place of its own."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hub"}, "stringData": {"token": TOKEN}}
    kube.create(secret)
    env = [
        {"name": "SERVICE_PASSWORD", "value": MARK},
        {"name": "HUB", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
    ]
    serving = a_tiny_service("serving", engineOptions={"env": env}, pod={"annotations": {"team/token": TOKEN}})
    serving["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": f'{{"token": "{TOKEN}"}}'}
    kube.create(serving)
    kube.wait_ready("serving")
    for number, (args, reason) in enumerate(
        (
            (["--api-key", MARK], "OwnedArgument"),
            ([f"--chat-template-file={TOKEN}"], "EngineArgumentRejected"),
            (["--hub-token", MARK], "EngineArgumentRejected"),
            # The engine repeats a value that it does not know for this option. What looks like any other word cannot be
            # told from one.
            (["-fa", f"401 Client Error: Authorization: Bearer {TOKEN}"], "EngineArgumentRejected"),
            (["-fa", f"{'a-long-way-up-the-log ' * 150} {TOKEN}"], "EngineArgumentRejected"),
        )
    ):
        kube.create(a_tiny_service(f"failing-{number}", engineOptions={"args": args}))
        kube.wait_reason(f"failing-{number}", reason)
    kube.delete("LLMService", "failing-3")


def everything_told(kube: Kube) -> list[Body]:
    """Every status and every event of the operator's."""
    events = [event for event in kube.list("Event") if event["source"].get("component") == "llmservice-operator"]
    assert events
    return [body["status"] for body in kube.list("LLMService")] + events


def be_refused(kube: Kube, spied: Spied) -> None:
    """The API server, which remembers a good token for 10 s, no longer takes it, and the operator says so."""
    withdraw(kube, ACCOUNT)
    time.sleep(11)

    def complains() -> bool:
        kube.patch("LLMService", "serving", {"spec": {"maxNumSeqs": 1 + time.monotonic_ns() % 7}})
        return "Unauthorized" in spied.log()

    kube.wait(complains, lambda: spied.log()[-3000:])


def around(text: str, word: str) -> list[str]:
    """Where a word stands, with what stands beside it."""
    return [f"{before[-150:]}<{word}>{after[:80]}" for before, after in pairwise(text.split(word))][:5]
