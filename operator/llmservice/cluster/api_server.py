"""The cluster behind a real API server: plain dicts over one connection."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode

from llmservice.cluster.cluster import Manifests
from llmservice.cluster.connection import Connection
from llmservice.cluster.failures import NotFound
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.listing import Selection, list_all
from llmservice.converging.references import Manifest, Ref, ref_of
from llmservice.errors import Conflict, Refused

_APPLY = "application/apply-patch+yaml"
"""The type of a server-side apply; its YAML may be JSON, which is YAML too."""

_MERGE = "application/merge-patch+json"

_BYTES_PER_LINE = 128


@dataclass(slots=True)
class ApiServer:
    """`Cluster` over HTTP."""

    connection: Connection

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
        return (await list_all(self.connection, selection)).items

    async def apply(self, manifest: Manifest, *, manager: str, dry_run: bool = False) -> Manifest:
        """Server-side apply of the full intent, forced; returns the object as the server has it now."""
        query = _apply_query(manager, strict=True, dry_run=dry_run)
        return await self._apply(_target(ref_of(manifest)), query, manifest)

    async def overwrite(self, manifest: Manifest, *, manager: str) -> Manifest:
        """JSON merge patch of the full intent: our lists replace the live ones whole."""
        query = urlencode({"fieldManager": manager, "fieldValidation": "Strict"})
        target = f"{_target(ref_of(manifest))}?{query}"
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

    async def record(self, event: Manifest) -> None:
        """Create a core/v1 Event."""
        await self.connection.call("POST", KINDS["Event"].collection(ref_of(event).namespace), body=event)

    async def log_tail(self, ref: Ref, container: str, *, previous: bool, max_bytes: int = 65_536) -> str:
        """The end of a container's log; empty when there is none or reading it is not allowed."""
        query = urlencode(
            {
                "container": container,
                "previous": str(previous).lower(),
                "tailLines": max_bytes // _BYTES_PER_LINE,
                # Cuts at the end, so it only guards against endless lines.
                "limitBytes": 4 * max_bytes,
            }
        )
        try:
            answer = await self.connection.call_raw("GET", f"{_target(ref, 'log')}?{query}", accept="*/*")
        except Refused:
            return ""
        return answer[-max_bytes:].decode(errors="replace")

    async def _apply(self, target: str, query: str, intent: Manifest) -> Manifest:
        return await self.connection.call("PATCH", f"{target}?{query}", body=intent, content_type=_APPLY)


def _target(ref: Ref, subresource: str = "") -> str:
    return KINDS[ref.kind].item(ref.namespace, ref.name, subresource)


@lru_cache(maxsize=64)
def _apply_query(manager: str, *, strict: bool = False, dry_run: bool = False) -> str:
    """The query of an apply: a handful of texts, wanted with every write."""
    query = {"fieldManager": manager, "force": "true"}
    query |= {"fieldValidation": "Strict"} if strict else {}
    query |= {"dryRun": "All"} if dry_run else {}
    return urlencode(query)
