"""The cluster behind a real API server: plain dicts over one connection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlencode

from llmservice.cluster.caching.trimming import trimmed
from llmservice.cluster.cluster import Manifests, known
from llmservice.cluster.event_rate_limiter import EventRateLimiter
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.listing import Selection, list_all
from llmservice.errors import Conflict, NotFound, Refused
from llmservice.objects.references import Manifest, Ref, ref_of

_APPLY = "application/apply-patch+yaml"
"""The type of a server-side apply; its YAML may be JSON, which is YAML too."""

_MERGE = "application/merge-patch+json"

_BYTES_PER_LINE = 128

_NO_OBJECTS_VERSION = "1"
"""That of an empty etcd; what is written first has 2. An apply that names it makes an object, or is a conflict."""


@dataclass(slots=True)
class ApiServer:
    """`Cluster` over HTTP."""

    connection: Connection
    events: EventRateLimiter = field(default_factory=EventRateLimiter)

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object, past every cache; None when it is not there."""
        try:
            return await self.connection.call("GET", _target(ref))
        except NotFound:
            return None

    async def list(
        self, kind: str, namespace: str = "", *, label_selector: str = "", field_selector: str = ""
    ) -> Manifests:
        """All selected objects of one kind, each with apiVersion and kind filled in."""
        selection = Selection(
            kind=kind, namespace=namespace, label_selector=label_selector, field_selector=field_selector
        )
        keep = trimmed if kind == "Event" else _as_it_is
        return (await list_all(self.connection, selection, keep)).items

    async def apply_new(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Server-side apply that only makes what is not there, bound to a version that no object ever has."""
        metadata = {**manifest["metadata"], "resourceVersion": _NO_OBJECTS_VERSION}
        query = _apply_query(manager, strict=True, force=False)
        return await self._apply(_target(ref_of(manifest)), query, {**manifest, "metadata": metadata})

    async def post(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Create an object that is never changed afterwards; returns it as the server has it now."""
        query = urlencode({"fieldManager": manager, "fieldValidation": "Strict"})
        ref = ref_of(manifest)
        collection = KINDS[ref.kind].collection(ref.namespace)
        return await self.connection.call("POST", f"{collection}?{query}", body=manifest)

    async def apply(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Server-side apply of the full intent to a known object, forced; returns it as the server has it now."""
        query = _apply_query(manager, strict=True)
        return await self._apply(_target(known(manifest)), query, manifest)

    async def overwrite(self, manifest: Manifest, *, manager: str) -> Manifest:
        """JSON merge patch of the full intent: our lists replace the live ones whole, and None takes a field away."""
        query = urlencode({"fieldManager": manager, "fieldValidation": "Strict"})
        target = f"{_target(known(manifest))}?{query}"
        try:
            return await self.connection.call("PATCH", target, body=manifest, content_type=_MERGE)
        except NotFound as error:
            raise Conflict("NotFound", f"{ref_of(manifest)} is gone: {error}") from error

    async def apply_status(self, manifest: Manifest, *, manager: str) -> Manifest | None:
        """Server-side apply of `status` through the subresource; None when the object is gone."""
        try:
            return await self._apply(_target(ref_of(manifest), "status"), _apply_query(manager), manifest)
        except NotFound:
            return None

    async def apply_scale(self, ref: Ref, replicas: int, *, manager: str, uid: str = "") -> None:
        """Forced server-side apply of the replicas through `/scale`."""
        metadata = {"namespace": ref.namespace, "name": ref.name}
        scale = {
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {**metadata, "uid": uid} if uid else metadata,
            "spec": {"replicas": replicas},
        }
        try:
            await self._apply(_target(ref, "scale"), _apply_query(manager), scale)
        except NotFound as error:
            raise Conflict("NotFound", f"{ref} is gone: {error}") from error

    async def delete(self, ref: Ref, *, uid: str) -> None:
        """Delete exactly the object with this UID; nothing happens when it is gone already."""
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid},
            "propagationPolicy": "Background",
        }
        try:
            await self.connection.call("DELETE", _target(ref), body=options)
        except NotFound:
            return

    async def evict(self, ref: Ref, *, uid: str, grace_seconds: int) -> None:
        """Evict exactly the pod with this UID; nothing happens when it is gone already."""
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"namespace": ref.namespace, "name": ref.name},
            "deleteOptions": {"gracePeriodSeconds": grace_seconds, "preconditions": {"uid": uid}},
        }
        try:
            await self.connection.call("POST", _target(ref, "eviction"), body=eviction)
        except NotFound:
            return

    async def record(self, event: Manifest) -> None:
        """Create a core/v1 Event, unless there are too many."""
        if not self.events.allows(event):
            return
        await self.connection.call("POST", KINDS["Event"].collection(ref_of(event).namespace), body=event)

    async def log_tail(self, ref: Ref, container: str, *, previous: bool, max_bytes: int = 65_536) -> str:
        """The last lines of a container's log that fit; empty when there is none or reading it is not allowed.

        A limit of bytes cuts off the end of what is asked for, and the end is what counts: where the lines asked for do
        not fit, fewer are, until they do. No answer has more than `max_bytes`, and there are three at most; of a last
        line that is longer by itself, its beginning comes.
        """
        lines = max_bytes // _BYTES_PER_LINE
        answer = await self._last_lines(ref, container, previous=previous, lines=lines, max_bytes=max_bytes)
        for fewer in sorted({1, answer.count(b"\n") // 2} - {0}, reverse=True):
            if len(answer) < max_bytes:
                break
            answer = await self._last_lines(ref, container, previous=previous, lines=fewer, max_bytes=max_bytes)
        return answer.decode(errors="replace")

    async def log_head(self, ref: Ref, container: str, *, max_bytes: int = 65_536) -> str:
        """The first bytes of the log of a container's current run; empty when there is none or it may not be read.

        A node that has rotated the log gives the beginning of what is left. The kubelet puts its time before each line.
        """
        query: Mapping[str, str | int] = {"container": container, "limitBytes": max_bytes, "timestamps": "true"}
        return (await self._log(ref, query)).decode(errors="replace")

    async def _last_lines(self, ref: Ref, container: str, *, previous: bool, lines: int, max_bytes: int) -> bytes:
        which = {"container": container, "previous": str(previous).lower()}
        return await self._log(ref, {**which, "tailLines": lines, "limitBytes": max_bytes})

    async def _log(self, ref: Ref, query: Mapping[str, str | int]) -> bytes:
        try:
            return await self.connection.call_raw("GET", f"{_target(ref, 'log')}?{urlencode(query)}", accept="*/*")
        except Refused:
            return b""

    async def _apply(self, target: str, query: str, intent: Manifest) -> Manifest:
        return await self.connection.call("PATCH", f"{target}?{query}", body=intent, content_type=_APPLY)


def _as_it_is(manifest: Manifest) -> Manifest:
    return manifest


def _target(ref: Ref, subresource: str = "") -> str:
    return KINDS[ref.kind].item(ref.namespace, ref.name, subresource)


@lru_cache(maxsize=64)
def _apply_query(manager: str, *, strict: bool = False, force: bool = True) -> str:
    """The query of an apply: a handful of texts, wanted with every write."""
    query = {"fieldManager": manager, "force": str(force).lower()}
    query |= {"fieldValidation": "Strict"} if strict else {}
    return urlencode(query)
