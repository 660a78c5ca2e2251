"""The contract of a cluster: the API server's and the in-memory one's; both pass one suite."""

from typing import Protocol

from llmservice.objects.references import Manifest, Ref, ref_of, uid_of

Manifests = list[Manifest]
"""A name of its own, because `list` is a method here."""


class Cluster(Protocol):
    """Reads and writes plain dicts.

    Every method raises `Unavailable` when the API server cannot be reached, times out or answers 401, 429 or 5xx,
    `Conflict` on 409, `Refused` on every other 4xx, a missing namespace or kind among them (message: the server's own
    words), and never a library's exception.
    """

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object, past every cache; None when it is not there."""
        ...

    async def list(
        self, kind: str, namespace: str = "", *, label_selector: str = "", field_selector: str = ""
    ) -> Manifests:
        """All selected objects of one kind, each with apiVersion and kind filled in."""
        ...

    async def apply_new(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Server-side apply that only makes what is not there; returns the object as the server has it now.

        `Conflict` when anything of this name is there, whoever made it and however late: it stays as it is, byte for
        byte. The manifest has neither uid nor resource version.
        """
        ...

    async def post(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Create an object that is never changed afterwards; returns it as the server has it now.

        `Conflict` when anything of this name is there. It needs the right to create and none to patch.
        """
        ...

    async def apply(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Server-side apply of the full intent to a known object, forced; returns it as the server has it now.

        `metadata.uid` says which: without one it raises ValueError. It is a precondition, and so is
        `metadata.resourceVersion` where it is given: `Conflict` when they differ or the object is gone.
        """
        ...

    async def overwrite(self, manifest: Manifest, *, manager: str) -> Manifest:
        """JSON merge patch of the full intent: our lists replace the live ones whole.

        For what `apply` cannot repair: list elements of others that contradict ours stay beside them, and the API
        server refuses the whole object. A None in the intent removes the field. Preconditions as for `apply`.
        """
        ...

    async def apply_status(self, manifest: Manifest, *, manager: str) -> Manifest | None:
        """Server-side apply of `status` through the subresource; None when the object is gone.

        `metadata.uid` and `metadata.resourceVersion` are preconditions as in `apply`.
        """
        ...

    async def apply_scale(self, ref: Ref, replicas: int, *, manager: str, uid: str = "") -> None:
        """Forced server-side apply of the replicas through `/scale`.

        `Conflict` when the object is gone, or is another one than `uid` says.
        """
        ...

    async def delete(self, ref: Ref, *, uid: str) -> None:
        """Delete exactly the object with this UID, its dependents in the background.

        Nothing happens when the name is free already; `Conflict` when it belongs to another object by now.
        """
        ...

    async def evict(self, ref: Ref, *, uid: str, grace_seconds: int) -> None:
        """Have the API server delete exactly the pod with this UID, within what its disruption budget allows.

        `Unavailable` while the budget does not allow it; nothing happens when the pod is gone already; `Conflict` when
        the name belongs to another one.
        """
        ...

    async def record(self, event: Manifest) -> None:
        """Create a core/v1 Event; `Conflict` when one of this name exists."""
        ...

    async def log_tail(self, ref: Ref, container: str, *, previous: bool, max_bytes: int = 65_536) -> str:
        """The end of a container's log; empty when there is none or reading it is not allowed."""
        ...

    async def log_head(self, ref: Ref, container: str, *, max_bytes: int = 65_536) -> str:
        """The beginning of the log of a container's current run, each line behind its time (RFC 3339) and a space.

        Empty when there is none or it may not be read.
        """
        ...


def known(manifest: Manifest) -> Ref:
    """The reference of an object to write by force; ValueError without a UID: the object may not be ours."""
    if not uid_of(manifest):
        raise ValueError(f"{ref_of(manifest)}: an object is written by force only where its UID is known")
    return ref_of(manifest)
