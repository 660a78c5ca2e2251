"""What the page asks of the cluster, with the rights of whoever started it: lists once for all who look."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.leadership.leader_proxy import ask_leader
from llmservice.cluster.tokens import own_token
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.visible import pods_and_events
from llmservice.cluster.watching.listing import Selection, list_all
from llmservice.errors import NotFound, OperatorError, Refused, Unauthorized
from llmservice.objects.names import LEASE
from llmservice.objects.references import Manifest, Ref
from llmservice.ui.history import History
from llmservice.ui.leading import leading_from, leading_unknown
from llmservice.ui.views import row_of, service_view, services_view

_KIND = "LLMService"
_LEAST_SECONDS = 2.0
_MOST_OPENED = 4
_SHARE = 10.0
"""A list is asked for again after ten times what the last one took: a large fleet must not keep the API server busy."""
_DECIDED = ("decision", "steps", "pods", "learned", "ageSeconds", "policy", "mode", "minReplicas", "maxReplicas")

StateOf = Callable[..., dict[str, Any]]
"""`cli.service_state.state_of`: what `llmservice status` says."""


@dataclass(slots=True, kw_only=True)
class Reader:
    """`namespace` empty: all of them. `clock` gives seconds since 1970.

    `shared`: it is one of many in one process, each with the rights of its caller. Then it remembers only services
    that were opened, and the token goes to the API server alone: not, as with `llmservice explain`, to the operator.
    """

    connection: Connection
    namespace: str
    operator_namespace: str
    state_of: StateOf
    shared: bool = False
    clock: Callable[[], float] = time.time
    history: History = field(default_factory=History)
    _rows: list[dict[str, Any]] = field(default_factory=list)
    _listed_at: float = 0.0
    _tried_at: float = 0.0
    _took: float = 0.0
    _problem: str = ""
    _leading: dict[str, Any] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def services(self, *, wanted: str, only_unready: bool, page: int) -> dict[str, Any]:
        """A page of services with what is known of the operator; the last list where the cluster does not answer.

        Shared, it raises Unauthorized where the cluster does not know the caller.
        """
        await self._refresh()
        found = services_view(self._rows, wanted=wanted, only_unready=only_unready, page=page)
        return {**found, **self._known(), "namespace": self.namespace, "shared": self.shared}

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
        if self.shared:
            self.history.note_one(body, self.clock(), most=_MOST_OPENED)
        state = self.state_of(body, pods, events, now=datetime.now(UTC))
        view = service_view(state, body.get("status") or {}, self.history.of((namespace, name)), explanation)
        return {**view, **self._known()}

    @property
    def was_answered(self) -> bool:
        """Whether the API server has shown this caller a list, and not refused one since."""
        return self._listed_at > 0

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
                found = await list_all(self.connection, Selection(kind=_KIND, namespace=self.namespace), self._reduced)
                self._keep(found.items, now)
            except OperatorError as error:
                self._lost(error)
            self._leading = await self._leader()
            self._took = self.clock() - now

    def _keep(self, listed: Iterable[Manifest], began: float) -> None:
        self._problem, self._listed_at = "", began
        if not self.shared:
            self.history.note(listed, self.clock())
        self._rows = [each["row"] for each in listed]

    def _reduced(self, service: Manifest) -> Manifest:
        """What outlives the reading of a list."""
        status = service.get("status") or {}
        return {
            "metadata": {name: service["metadata"].get(name, "") for name in ("namespace", "name")},
            "status": {name: status.get(name) for name in ("desiredReplicas", "readyReplicas", "autoscaling")},
            "row": row_of(self.state_of(service, now=datetime.fromtimestamp(self.clock(), UTC))),
        }

    def _lost(self, error: OperatorError) -> None:
        """The last list stays where nobody answers; who may not see it any more is not shown what was seen before."""
        if isinstance(error, Refused | Unauthorized):
            self._rows, self._listed_at, self.history = [], 0.0, History()
        if self.shared and isinstance(error, Unauthorized):
            raise error
        self._problem = _told(error, self.namespace)

    async def _leader(self) -> dict[str, Any]:
        target = KINDS["Lease"].item(self.operator_namespace, LEASE)
        where = f"{self.operator_namespace}/{LEASE}"
        try:
            return leading_from(await self.connection.call("GET", target), where, datetime.now(UTC))
        except NotFound:
            return leading_from(None, where, datetime.now(UTC))
        except Refused:
            return {} if self.shared else leading_unknown("you may not read its Lease")
        except OperatorError as error:
            return leading_unknown(str(error))

    async def _explanation(self, namespace: str, name: str, body: Manifest) -> Mapping[str, Any]:
        """What the operator itself says of its last decision; why not, where it cannot be asked."""
        if not (body.get("spec") or {}).get("autoscaling"):
            return {}
        if self.shared:
            return {"problem": f"this page hands no token on; in a terminal: llmservice explain {name} -n {namespace}"}
        path = f"explain/{namespace}/{name}"
        try:
            token = await own_token(self.connection)
            answer = await ask_leader(self.connection, self.operator_namespace, LEASE, path, token)
        except OperatorError as error:
            return {"problem": str(error)}
        return {key: answer[key] for key in _DECIDED if key in answer}


def _told(error: OperatorError, namespace: str) -> str:
    if isinstance(error, NotFound):
        return f"The cluster has no LLMServices: is the operator installed? {error}"
    if not isinstance(error, Refused):
        return f"The cluster does not answer: {error}"
    if namespace:
        return f"You may not list the services of {namespace}: {error}"
    return f"You may not list the services of all namespaces: name one. {error}"
