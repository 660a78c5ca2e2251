"""A cluster that lacks the Gateway API at first, the operator beside it, and later a gateway that follows routes."""

import json
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox import Sandbox
from sandbox.commands import run
from tests.cluster.conftest import box, cluster, namespace, quiet
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service
from tests.cluster.target import Target
from tests.ports import free_port
from tests.routes import crds
from tests.routes.listeners import CLASS
from tests.routes.stand_in import StandIn
from tests.streams.audience import Audience
from tests.streams.conftest import CONTEXT_TOKENS, SLOTS, SLOW, TOKENS
from tests.streams.stage import Stage

HOST, PREFIX = "models.example.com", "/chat"
ADMITTED = {"routes": "admitted"}

__all__ = ["box", "cluster", "quiet"]


@dataclass(frozen=True)
class Gateway:
    """Where the stand-in listens, and whom its clients trust."""

    kube: Kube
    port: int
    authority: Path

    @property
    def address(self) -> str:
        """What clients use as their base URL, without /v1."""
        return f"https://{HOST}:{self.port}"

    def status(self, path: str, host: str = HOST) -> int:
        """What a GET is answered with; TLS is checked."""
        url = f"https://{host}:{self.port}{path}"
        return int(self._curl(url, host, "-o", "/dev/null", "-w", "%{http_code}"))

    def ask(self, path: str, model: str, host: str = HOST) -> Body:
        """One chat completion."""
        asked = {"model": model, "max_tokens": 4, "messages": [{"role": "user", "content": "hi"}]}
        url = f"https://{host}:{self.port}{path}/v1/chat/completions"
        answer: Body = json.loads(
            self._curl(url, host, "-H", "Content-Type: application/json", "-d", json.dumps(asked))
        )
        return answer

    def _curl(self, url: str, host: str, *more: str) -> str:
        found = f"{host}:{self.port}:127.0.0.1"
        words = ["curl", "-sS", "--max-time", "60", "--cacert", str(self.authority), "--resolve", found, *more, url]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout  # noqa: S603


@dataclass(kw_only=True)
class StageBehindGateway(Stage):
    """A stage whose audience comes through the gateway."""

    gateway: Gateway

    def _audience(self, pace: float) -> Audience:
        return Audience(
            address=f"{self.gateway.address}{PREFIX}",
            held=self.held,
            tokens=self.tokens,
            pace=pace,
            knock_seconds=self.knock_seconds,
            trust=ssl.create_default_context(cafile=str(self.gateway.authority)),
            host="127.0.0.1",
        )


@pytest.fixture(scope="session")
def home(cluster: Kube, box: Sandbox) -> Iterator[Kube]:
    """The namespace of the services, in a cluster that lacks the kinds of routes."""
    crds.remove(cluster)
    for within in namespace(cluster):
        box.model_volume(within.namespace, "models")
        yield within
    crds.remove(cluster)


@pytest.fixture(scope="session")
def infra(cluster: Kube) -> Iterator[Kube]:
    """The namespace of the Gateway."""
    yield from namespace(cluster)


@pytest.fixture(scope="session")
def operator(target: Target, home: Kube, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """One process for all tests: it is never started again."""
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    environment = {**target.operator_environment(), "LLMSERVICE_NAMESPACES": home.namespace}
    with Operator(environment, log).running() as operator:
        yield operator


@pytest.fixture(scope="session")
def chat(home: Kube, infra: Kube, operator: Operator) -> Kube:  # noqa: ARG001  (it must run)
    """The service `chat` with a route, and two replicas that serve."""
    slow = {"resources": {"requests": SLOW, "limits": SLOW}}
    numbers: Body = {"replicas": 2, "maxNumSeqs": SLOTS, "maxModelLen": CONTEXT_TOKENS}
    home.create(a_tiny_service(**numbers, drain={"timeoutSeconds": 180}, pod=slow, route=a_route(infra, path=PREFIX)))
    home.wait_ready("chat")
    return home


def a_route(infra: Kube, **more: object) -> Body:
    """A route by the Gateway, without limits of time."""
    return {"parentRefs": [{"name": "shared", "namespace": infra.namespace}], "hostnames": [HOST], **more}


@pytest.fixture(scope="session")
def gateway(chat: Kube, infra: Kube, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """The Gateway API, installed beside a service that has asked for a route, and a stand-in that listens with TLS."""
    crds.install_gateway_api(chat)
    folder, port = tmp_path_factory.mktemp("gateway"), free_port()
    certificates = {f"{infra.namespace}/{HOST}": _certificate(folder)}
    rule = {"namespaces": {"from": "Selector", "selector": {"matchLabels": ADMITTED}}}
    tls = {"mode": "Terminate", "certificateRefs": [{"name": HOST}]}
    listener = {"name": "https", "port": port, "protocol": "HTTPS", "hostname": "*.example.com", "tls": tls}
    admit(chat, None)
    with StandIn(Kube.connect(chat.kubeconfig, chat.kubectl_path), folder, certificates).running():
        infra.create(
            {
                "apiVersion": "gateway.networking.k8s.io/v1",
                "kind": "Gateway",
                "metadata": {"name": "shared"},
                "spec": {"gatewayClassName": CLASS, "listeners": [{**listener, "allowedRoutes": rule}]},
            }
        )
        yield Gateway(infra, port, folder / "authority.crt")


def admit(kube: Kube, value: str | None = ADMITTED["routes"]) -> None:
    """Give a namespace the label by which the Gateway admits routes; None takes it away."""
    path = f"/api/v1/namespaces/{kube.namespace}"
    kube.request("PATCH", path, {"metadata": {"labels": {"routes": value}}}, content="application/merge-patch+json")


@pytest.fixture(scope="session")
def stage(gateway: Gateway, chat: Kube, operator: Operator) -> StageBehindGateway:
    """The service with an audience behind the gateway."""
    return StageBehindGateway(kube=chat, operator=operator, tokens=TOKENS, gateway=gateway)


def _certificate(folder: Path) -> Path:
    """A certificate for *.example.com of its own authority; the file that HAProxy reads has the key too."""
    key, made = folder / "tls.key", folder / "authority.crt"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=example.com", "-addext", "subjectAltName=DNS:*.example.com"]
    run(["openssl", "req", "-x509", *curve, *names, "-keyout", str(key), "-out", str(made)])
    both = folder / "tls.pem"
    both.write_text(made.read_text() + key.read_text())
    return both
