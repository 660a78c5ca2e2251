"""What the page asks of the cluster, with the rights of whoever started it: lists once for all who look."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.leadership.leader_proxy import ask_leader
from llmservice.cluster.tokens import own_token
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.visible import pods_and_events
from llmservice.errors import NotFound, OperatorError
from llmservice.objects.names import LEASE
from llmservice.objects.references import Manifest, Ref
from llmservice.ui.history import History
from llmservice.ui.leading import leading_from, leading_unknown
from llmservice.ui.views import service_view, services_view

_KIND = "LLMService"
_LEAST_SECONDS = 2.0
_SHARE = 10.0
"""A list is asked for again after ten times what the last one took: a large fleet must not keep the API server busy."""
_DECIDED = ("decision", "steps", "pods", "learned", "ageSeconds", "policy", "mode", "minReplicas", "maxReplicas")

StateOf = Callable[..., dict[str, Any]]
"""`cli.service_state.state_of`: what `llmservice status` says."""


@dataclass(slots=True, kw_only=True)
class Reader:
    """`namespace` empty: all of them. `clock` gives seconds since 1970."""

    connection: Connection
    namespace: str
    operator_namespace: str
    state_of: StateOf
    clock: Callable[[], float] = time.time
    history: History = field(default_factory=History)
    _listed: list[Manifest] = field(default_factory=list)
    _states: list[dict[str, Any]] = field(default_factory=list)
    _listed_at: float = 0.0
    _tried_at: float = 0.0
    _took: float = 0.0
    _problem: str = ""
    _leading: dict[str, Any] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def services(self, *, wanted: str, only_unready: bool, page: int) -> dict[str, Any]:
        """A page of services with what is known of the operator; the last list where the cluster does not answer."""
        await self._refresh()
        found = services_view(self._states, wanted=wanted, only_unready=only_unready, page=page)
        return {**found, **self._known(), "namespace": self.namespace}

    async def service(self, namespace: str, name: str) -> dict[str, Any] | None:
        """One service; None where there is none. Raises what the API server says."""
        await self._refresh()
        server = ApiServer(self.connection)
        body = await server.get(Ref(kind=_KIND, namespace=namespace, name=name))
        if body is None:
            return None
        (pods, events), explanation = await asyncio.gather(
            pods_and_events(server, body), self._explanation(namespace, name, body)
        )
        state = self.state_of(body, pods, events, now=datetime.now(UTC))
        view = service_view(state, body.get("status") or {}, self.history.of((namespace, name)), explanation)
        return {**view, **self._known()}

    def _known(self) -> dict[str, Any]:
        return {"operator": self._leading, "problem": self._problem, "listedAt": self._listed_at, "now": self.clock()}

    async def _refresh(self) -> None:
        """List again where the last list is old, once for all who ask meanwhile."""
        async with self._lock:
            now = self.clock()
            if now - self._tried_at < max(_LEAST_SECONDS, _SHARE * self._took):
                return
            self._tried_at = now
            try:
                self._listed = list(await ApiServer(self.connection).list(_KIND, self.namespace))
            except OperatorError as error:
                self._problem = str(error)
            else:
                self._keep(self.clock(), now)
            self._leading = await self._leader()
            self._took = self.clock() - now

    def _keep(self, at: float, began: float) -> None:
        self._problem, self._listed_at = "", began
        self.history.note(self._listed, at)
        moment = datetime.fromtimestamp(at, UTC)
        self._states = [self.state_of(service, now=moment) for service in self._listed]

    async def _leader(self) -> dict[str, Any]:
        target = KINDS["Lease"].item(self.operator_namespace, LEASE)
        where = f"{self.operator_namespace}/{LEASE}"
        try:
            return leading_from(await self.connection.call("GET", target), where, datetime.now(UTC))
        except NotFound:
            return leading_from(None, where, datetime.now(UTC))
        except OperatorError as error:
            return leading_unknown(str(error))

    async def _explanation(self, namespace: str, name: str, body: Manifest) -> Mapping[str, Any]:
        """What the operator itself says of its last decision; why not, where it cannot be asked."""
        if not (body.get("spec") or {}).get("autoscaling"):
            return {}
        path = f"explain/{namespace}/{name}"
        try:
            token = await own_token(self.connection)
            answer = await ask_leader(self.connection, self.operator_namespace, LEASE, path, token)
        except OperatorError as error:
            return {"problem": str(error)}
        return {key: answer[key] for key in _DECIDED if key in answer}
