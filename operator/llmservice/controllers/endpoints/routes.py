"""The routes of the operator's own endpoints: probes by plain HTTP, metrics and explanations by authorized HTTPS.

Each server has a thread of its own, so that no scrape delays a probe, and both answer while the operator's loop hangs.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from llmservice.cluster.reviews import Question, may_get_metrics, may_get_service, reviewing
from llmservice.controllers.endpoints.certificates import CertificateFiles, SelfSigned
from llmservice.controllers.endpoints.guarding import TokenGuard
from llmservice.controllers.endpoints.health import Checks
from llmservice.controllers.endpoints.http_messages import as_json, in_chunks, told
from llmservice.controllers.endpoints.http_server import Certificate, HttpServer
from llmservice.controllers.endpoints.shared_page import SharedPage
from llmservice.settings import Settings

_SCRAPES = 64
"""Connections at once: each costs 0.3 MiB with TLS."""
_LOOPBACK = "127.0.0.1"
_NAME_LENGTH = 253
_OF_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")

Explain = Callable[[str, str], tuple[int, dict[str, Any]]]
"""Namespace and name of an LLMService → HTTP status and JSON; called from the endpoints' thread."""


class Guard(Protocol):
    """Who may read what."""

    def refusal(self, request: web.BaseRequest, question: Question) -> Awaitable[web.Response | None]:
        """What somebody is told who may not; None for those who may."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """`/healthz` and `/readyz`. `remarks` stand where a check of the same name would say "ok"."""

    alive: Checks
    ready: Checks
    remarks: Checks = field(default_factory=dict)

    async def __call__(self, request: web.BaseRequest) -> web.Response:
        """The answer to a probe."""
        if _path(request) == "/healthz":
            return _verdict(self.alive, {})
        if _path(request) == "/readyz":
            return _verdict(self.ready, self.remarks)
        return told(404, "here are /healthz and /readyz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """`/metrics` and `/explain/NAMESPACE/NAME`. `guard` None: every caller is answered."""

    page: SharedPage
    explain: Explain
    guard: Guard | None

    async def __call__(self, request: web.BaseRequest) -> web.Response:
        """The response; a caller without the right to a resource learns nothing of it, not even whether it exists."""
        if _path(request) == "/metrics":
            refused = await self._refusal(request, may_get_metrics())
            return refused or in_chunks(await self.page.page(), CONTENT_TYPE_LATEST)
        match _path(request).split("/"):
            case ["", "explain", namespace, name] if _is_name(namespace) and _is_name(name):
                refused = await self._refusal(request, may_get_service(namespace, name))
                return refused or as_json(*self.explain(namespace, name))
        return as_json(404, {"message": "here are /metrics and /explain/NAMESPACE/NAME"})

    async def _refusal(self, request: web.BaseRequest, question: Question) -> web.Response | None:
        return await self.guard.refusal(request, question) if self.guard else None


def probe_server(port: int, probes: Probes) -> HttpServer:
    """Where the kubelet asks. It waits five seconds for an answer, so none takes longer."""
    return HttpServer(name="probes", port=port, setting="LLMSERVICE_PROBE_PORT", handle=probes, seconds=5)


def metrics_server(settings: Settings, registry: CollectorRegistry, explain: Explain) -> HttpServer:
    """For Prometheus and people: authorized HTTPS, or plain HTTP on the loopback address alone."""
    guarded = settings.metrics_auth == "kubernetes"
    guard = TokenGuard(judging=partial(reviewing, settings.context)) if guarded else None
    return HttpServer(
        name="metrics",
        port=settings.metrics_port,
        setting="LLMSERVICE_METRICS_PORT",
        host="" if guarded else _LOOPBACK,
        handle=Figures(page=SharedPage(make=partial(generate_latest, registry)), explain=explain, guard=guard),
        certificate=_certificate(settings) if guarded else None,
        connections=_SCRAPES,
    )


def _certificate(settings: Settings) -> Certificate:
    certificate, key = settings.tls_cert_file, settings.tls_key_file
    return CertificateFiles(certificate=certificate, key=key) if certificate or key else SelfSigned()


def _path(request: web.BaseRequest) -> str:
    """The path as sent: no name needs an escaped letter, so none is decoded."""
    return request.rel_url.raw_path


def _is_name(word: str) -> bool:
    return 0 < len(word) <= _NAME_LENGTH and _OF_NAMES.issuperset(word)


def _verdict(checks: Checks, remarks: Checks) -> web.Response:
    """200 or 503, and one line for each check, as the API server's own endpoints print them."""
    problems = {name: problem() for name, problem in checks.items()}
    said = {name: remarks[name]() for name in checks.keys() & remarks.keys()}
    lines = [f"[-]{name} {text}" if text else f"[+]{name} {said.get(name) or 'ok'}" for name, text in problems.items()]
    return told(503 if any(problems.values()) else 200, "\n".join(lines))
