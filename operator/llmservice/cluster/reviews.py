"""Asks the API server who a caller is and what they may do: TokenReview and SubjectAccessReview.

Where the operator may not create reviews about others (an installation without cluster-wide rights), it asks with the
caller's own token: everybody may ask about themselves.
"""

import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from kubernetes.aio.client import Configuration

from llmservice.cluster.kinds import KINDS
from llmservice.cluster.tokens import AUDIENCE
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import Credentials, load_credentials
from llmservice.errors import OperatorError, Refused

log = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 5.0
_FORBIDDEN = "Forbidden"
"""Any other refusal is about one token, and must not change how all others are asked about."""
_FORBIDDEN_SECONDS = 60.0
_TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"  # noqa: S105  (a path)
_ACCESS = "/apis/authorization.k8s.io/v1/"


@dataclass(frozen=True, slots=True)
class Question:
    """May somebody do this? `words` name the right; `attributes` are those of a review, as JSON text."""

    words: str
    attributes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`user` is the caller's name; empty when the API server does not know it. `allowed`: the right is granted."""

    user: str = ""
    allowed: bool = False


def may_get_metrics() -> Question:
    """The right to read the operator's metrics, and so those of all LLMServices."""
    attributes = {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}
    return Question("get the nonResourceURL /metrics", orjson.dumps(attributes).decode())


def may_get_service(namespace: str, name: str) -> Question:
    """Whether somebody may `get` an LLMService, which need not exist."""
    kind = KINDS["LLMService"]
    group, _, version = kind.api_version.partition("/")
    resource = {"group": group, "version": version, "resource": kind.plural}
    attributes = {"resourceAttributes": {"verb": "get", **resource, "namespace": namespace, "name": name}}
    words = f"get {kind.plural}.{group} {name} in namespace {namespace}"
    return Question(words, orjson.dumps(attributes).decode())


@dataclass(slots=True, kw_only=True)
class Reviews:
    """Asks over a connection of its own; belongs to one event loop. Made by `reviewing`."""

    connection: Connection
    _forbidden_at: float = float("-inf")
    _told: bool = False

    async def verdict(self, token: str, question: Question) -> Verdict:
        """Who shows the token and whether they may. Raises `OperatorError` when the API server does not say."""
        if time.monotonic() - self._forbidden_at < _FORBIDDEN_SECONDS:
            return await self._about_themselves(token, question)
        try:
            user = await self._user(token)
        except Refused as error:
            if error.reason != _FORBIDDEN or self._has_own_certificate():
                raise
            self._forbidden_at = time.monotonic()
            if not self._told:
                log.info("no right to review tokens, so callers ask with their own: %s", error)
            self._told = True
            return await self._about_themselves(token, question)
        if not user:
            return Verdict()
        return Verdict(user=str(user.get("username")), allowed=await self._may(user, question))

    async def _user(self, token: str) -> Mapping[str, Any]:
        """Empty for a token that the API server does not know, or that was made for others than it and us."""
        for audiences in ([], [AUDIENCE]):
            spec = {"token": token} | ({"audiences": audiences} if audiences else {})
            answer = await self.connection.call("POST", _TOKEN_REVIEWS, body=_review("TokenReview", spec))
            status = answer.get("status") or {}
            # An API server that knows no audiences confirms none; then only the second question counts.
            if status.get("authenticated") and (not audiences or AUDIENCE in (status.get("audiences") or ())):
                user: Mapping[str, Any] = status.get("user") or {}
                return user
        return {}

    async def _may(self, user: Mapping[str, Any], question: Question) -> bool:
        who = {key: user[key] for key in ("groups", "uid", "extra") if user.get(key)}
        spec = {"user": user.get("username"), **who, **orjson.loads(question.attributes)}
        body = _review("SubjectAccessReview", spec, "authorization.k8s.io/v1")
        answer = await self.connection.call("POST", f"{_ACCESS}subjectaccessreviews", body=body)
        return bool((answer.get("status") or {}).get("allowed"))

    async def _about_themselves(self, token: str, question: Question) -> Verdict:
        body = _review("SelfSubjectAccessReview", orjson.loads(question.attributes), "authorization.k8s.io/v1")
        shown = Connection(
            credentials=_showing(token, self.connection.credentials),
            session=self.connection.session,
            timeout_seconds=self.connection.timeout_seconds,
        )
        try:
            answer = await shown.call("POST", f"{_ACCESS}selfsubjectaccessreviews", body=body)
        except OperatorError as error:
            if error.reason == "Unauthorized":
                return Verdict()
            raise
        return Verdict(user="the owner of this token", allowed=bool((answer.get("status") or {}).get("allowed")))

    def _has_own_certificate(self) -> bool:
        """With one in the handshake, whatever token is shown, the API server would answer about us."""
        return bool(self.connection.credentials.configuration.cert_file)


@asynccontextmanager
async def reviewing(context: str) -> AsyncIterator[Reviews]:
    """Reviews by the credentials of this process, as long as the block runs. Raises `Unavailable` without any."""
    async with connect(await load_credentials(context=context), timeout_seconds=_TIMEOUT_SECONDS) as connection:
        yield Reviews(connection=connection)


def _review(kind: str, spec: Mapping[str, Any], api: str = "authentication.k8s.io/v1") -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "spec": spec}


def _showing(token: str, ours: Credentials) -> Credentials:
    """The same API server with another token; there is nothing to read again."""
    configuration = Configuration()
    configuration.api_key["BearerToken"] = f"Bearer {token}"

    async def read(configuration: Configuration, *, anew: bool) -> str:  # noqa: ARG001
        return ""

    return Credentials(
        server=ours.server,
        tls=ours.tls,
        proxy=ours.proxy,
        server_hostname=ours.server_hostname,
        configuration=configuration,
        read=read,
    )
