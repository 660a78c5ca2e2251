"""Desired against observed: the writes that are needed, in order."""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

from llmservice.converging.intent import covers, digest_of, with_digest
from llmservice.converging.observed import Observed
from llmservice.objects.references import Manifest, Ref, is_being_deleted, ref_of, uid_of

CREATED = "created"
_MAY_END = ("NetworkPolicy", "PodDisruptionBudget", "EndpointSlice", "HTTPRoute", "InferencePool")
"""The kinds that an edit of the spec can make superfluous. Any other Deployment or Service with our owner UID was made
by somebody else: the garbage collector removes it together with the resource."""


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply this intent. `why` is `created`, `changed` (a new intent) or `repaired` (the object was edited)."""

    manifest: Manifest
    why: str

    @property
    def ref(self) -> Ref:
        """The object it writes."""
        return ref_of(self.manifest)


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the object with exactly this UID."""

    ref: Ref
    uid: str


Change = Apply | Delete


def diff(desired: Iterable[Manifest], observed: Observed, held: Container[Ref] = ()) -> tuple[Change, ...]:
    """What to write so that the cluster is as desired; empty when it is.

    | live object         | digest | fields  | change                          |
    |---------------------|--------|---------|---------------------------------|
    | none                |        |         | Apply, created                  |
    | ours, being deleted |        |         | none: wait for it               |
    | ours                | other  |         | Apply, changed                  |
    | ours                | same   | differ  | Apply, repaired                 |
    | ours                | same   | covered | none                            |
    | ours, not desired   |        |         | Delete, if its kind is optional |
    | ours, in `held`     |        |         | none                            |

    An intent for an existing object carries its UID, so that a new object of the same name is never overwritten.
    """
    intents = {ref_of(manifest): with_digest(manifest) for manifest in desired}
    applies = tuple(
        change
        for ref, intent in intents.items()
        if (change := _change(observed.children.get(ref), intent, held=ref in held)) is not None
    )
    deletes = tuple(
        Delete(ref, uid_of(live))
        for ref, live in sorted(observed.children.items())
        if ref not in intents and ref.kind in _MAY_END and not is_being_deleted(live)
    )
    return applies + deletes


def is_creation(changes: Iterable[Change]) -> bool:
    """Whether one of the changes creates an object."""
    return any(isinstance(change, Apply) and change.why == CREATED for change in changes)


def _change(live: Manifest | None, intent: Manifest, *, held: bool) -> Apply | None:
    if live is None:
        return Apply(intent, CREATED)
    if held or is_being_deleted(live):
        return None
    if digest_of(live) != digest_of(intent):
        return Apply(_bound_to(live, intent), "changed")
    return None if covers(live, intent) else Apply(_bound_to(live, intent), "repaired")


def _bound_to(live: Manifest, intent: Manifest) -> Manifest:
    metadata: dict[str, Any] = {**intent["metadata"], "uid": uid_of(live)}
    return {**intent, "metadata": metadata}
