"""A cluster in a dict: the same contract as the API server's, for tests and benchmarks.

It knows server-side apply with owners, defaults, generations, UIDs, `/status`, `/scale`, preconditions and the garbage
collection of dependents. It has no controllers: what a Deployment would do, a test does by `edit`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import orjson

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Manifests, known
from llmservice.cluster.kinds import KINDS
from llmservice.errors import Conflict, Refused
from llmservice.objects.references import Manifest, Ref, ref_of, uid_of
from tests.in_memory_cluster.defaulting import defaulted
from tests.in_memory_cluster.field_ownership import Owner, Owners, apply, update
from tests.in_memory_cluster.object_metadata import accounted, moment, named, ownable
from tests.in_memory_cluster.selecting import has_fields, has_labels


def _nothing(verb: str, ref: Ref) -> None:
    """Let every request through."""


@dataclass(slots=True, kw_only=True)
class InMemoryCluster:
    """`Cluster` in a dict, with hands from outside: `create`, `edit` and `remove` do what a person or controller does.

    `before` is called with the verb and the reference ahead of each request and may raise any of our errors. `writes`
    lists the writes that got past it. `cache`, when given, is told of each change as an informer would tell it.
    `logs` holds what `log_tail` finds: by pod, container, and whether of the previous run.
    """

    cache: ObjectCache | None = None
    before: Callable[[str, Ref], None] = _nothing
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    writes: list[tuple[str, Ref]] = field(default_factory=list)
    logs: dict[tuple[Ref, str, bool], str] = field(default_factory=dict)
    _objects: dict[Ref, Manifest] = field(default_factory=dict)
    _owners: dict[Ref, Owners] = field(default_factory=dict)
    _version: int = 0
    _uids: int = 0

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object; None when it is not there."""
        self.before("get", ref)
        return self.peek(ref)

    async def list(
        self, kind: str, namespace: str = "", *, label_selector: str = "", field_selector: str = ""
    ) -> Manifests:
        """All selected objects of one kind."""
        self.before("list", Ref(kind, namespace, ""))
        return [
            _copy(live)
            for ref, live in sorted(self._objects.items())
            if ref.kind == kind
            and namespace in {"", ref.namespace}
            and has_labels(live, label_selector)
            and has_fields(live, field_selector)
        ]

    async def apply_new(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Server-side apply that only makes what is not there; returns the object as it is now."""
        ref = ref_of(manifest)
        self._enter("apply_new", ref)
        if ref in self._objects:
            raise Conflict("Conflict", f"{ref} is there already")
        return self._apply(ref, None, ownable(manifest), Owner(manager, "Apply"))

    async def post(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Create an object; `Conflict` when anything of this name is there."""
        self._enter("post", ref_of(manifest))
        return self.create(manifest, manager=manager)

    async def apply(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Server-side apply of the full intent to a known object, forced; returns it as it is now."""
        ref = known(manifest)
        self._enter("apply", ref)
        live = self._checked(manifest)
        intent = {key: value for key, value in ownable(manifest).items() if key != "status"}
        return self._apply(ref, live, intent, Owner(manager, "Apply"))

    async def overwrite(self, manifest: Manifest, *, manager: str) -> Manifest:
        """JSON merge patch of the full intent: our lists replace the live ones whole, and None takes a field away."""
        ref = known(manifest)
        self._enter("overwrite", ref)
        live = self._checked(manifest)
        merged = _merged(live, _copy(manifest))
        owners = update(ownable(live), ownable(merged), self._owners[ref], Owner(manager, "Update"))
        return self._store(ref, live, merged, owners)

    async def apply_status(self, manifest: Manifest, *, manager: str) -> Manifest | None:
        """Server-side apply of `status` alone; None when the object is gone."""
        ref = ref_of(manifest)
        self._enter("apply_status", ref)
        if ref not in self._objects:
            return None
        live = self._checked(manifest)
        intent = {"status": manifest.get("status", {})}
        return self._apply(ref, live, intent, Owner(manager, "Apply", "status"))

    async def apply_scale(self, ref: Ref, replicas: int, *, manager: str, uid: str = "") -> None:
        """Forced server-side apply of the replicas through `/scale`."""
        self._enter("apply_scale", ref)
        live = self._objects.get(ref)
        if live is None or (uid and uid_of(live) != uid):
            raise Conflict("NotFound", f"{ref} is gone, or another one of its name is there")
        self._apply(ref, live, {"spec": {"replicas": replicas}}, Owner(manager, "Apply", "scale"))

    async def delete(self, ref: Ref, *, uid: str) -> None:
        """Delete exactly the object with this UID; nothing happens when it is gone already."""
        self._enter("delete", ref)
        self._remove_exactly(ref, uid)

    async def evict(self, ref: Ref, *, uid: str, grace_seconds: int) -> None:  # noqa: ARG002  (it ends at once)
        """Delete exactly the pod with this UID; disruption budgets are not played."""
        self._enter("evict", ref)
        self._remove_exactly(ref, uid)

    async def record(self, event: Manifest) -> None:
        """Keep a core/v1 Event."""
        self._enter("record", ref_of(event))
        self.create(event)

    async def log_tail(self, ref: Ref, container: str, *, previous: bool, max_bytes: int = 65_536) -> str:
        """The end of what `logs` holds."""
        self.before("log_tail", ref)
        return self.logs.get((ref, container, previous), "").encode()[-max_bytes:].decode(errors="replace")

    async def log_head(self, ref: Ref, container: str, *, max_bytes: int = 65_536) -> str:
        """The beginning of what `logs` holds of the current run."""
        self.before("log_head", ref)
        return self.logs.get((ref, container, False), "").encode()[:max_bytes].decode(errors="replace")

    def peek(self, ref: Ref) -> Manifest | None:
        """The object, without a request."""
        live = self._objects.get(ref)
        return None if live is None else _copy(live)

    def create(self, manifest: Manifest, *, manager: str = "kubectl-create") -> Manifest:
        """Create an object by other hands; a status it brings is kept, as if its controller had been quick."""
        ref = ref_of(manifest)
        if ref in self._objects:
            raise Conflict("AlreadyExists", f"{ref} already exists")
        return self._store(ref, None, _copy(manifest), update({}, ownable(manifest), {}, Owner(manager, "Update")))

    def edit(
        self, ref: Ref, change: Callable[[Manifest], None], *, manager: str = "kubectl-edit", subresource: str = ""
    ) -> Manifest:
        """Change an object by other hands: `change` is given a copy to change in place."""
        live, edited = self._objects[ref], _copy(self._objects[ref])
        change(edited)
        owner = Owner(manager, "Update", subresource)
        return self._store(ref, live, edited, update(ownable(live), ownable(edited), self._owners[ref], owner))

    def remove(self, ref: Ref) -> None:
        """Delete an object by other hands; with finalizers it stays, marked, until an `edit` takes the last one."""
        if self._objects[ref]["metadata"].get("finalizers"):
            deleted_at = moment(self.now())
            self.edit(ref, lambda live: live["metadata"].setdefault("deletionTimestamp", deleted_at))
            return
        self._objects.pop(ref)
        self._owners.pop(ref)
        self._version += 1
        if self.cache is not None:
            self.cache.drop(ref, self._version)
        self.collect_garbage()

    def collect_garbage(self) -> None:
        """Delete what names owners of which none is left."""
        uids = {uid_of(live) for live in self._objects.values()}
        for ref, live in [*self._objects.items()]:
            owners = live["metadata"].get("ownerReferences") or ()
            if owners and ref in self._objects and not any(owner["uid"] in uids for owner in owners):
                self.remove(ref)

    def _enter(self, verb: str, ref: Ref) -> None:
        self.before(verb, ref)
        self.writes.append((verb, ref))

    def _remove_exactly(self, ref: Ref, uid: str) -> None:
        live = self._objects.get(ref)
        if live is None:
            return
        if uid_of(live) != uid:
            raise Conflict("Conflict", f"{ref}: the UID in the precondition ({uid}) is not that of the object")
        self.remove(ref)

    def _checked(self, manifest: Manifest) -> Manifest:
        """The live object, when it is the one the manifest means."""
        ref, metadata = ref_of(manifest), manifest["metadata"]
        live = self._objects.get(ref)
        if live is None:
            raise Conflict("Conflict", f"{ref}: UID {metadata['uid']} was given, and no object was found")
        for key in ("uid", "resourceVersion"):
            if metadata.get(key, live["metadata"][key]) != live["metadata"][key]:
                raise Conflict("Conflict", f"{ref}: metadata.{key} is {live['metadata'][key]}, not {metadata[key]}")
        return live

    def _apply(self, ref: Ref, live: Manifest | None, intent: Manifest, owner: Owner) -> Manifest:
        kind = KINDS[ref.kind]
        metadata = {"name": ref.name, "namespace": ref.namespace}
        base = live or {"apiVersion": kind.api_version, "kind": ref.kind, "metadata": metadata}
        merged, owners = apply(base, _copy(intent), self._owners.get(ref, {}), owner)
        return self._store(ref, live, merged, owners)

    def _store(self, ref: Ref, live: Manifest | None, changed: Manifest, owners: Owners) -> Manifest:
        """Take a changed object in: defaults, UID, generation, managed fields, version. No change, no new version."""
        after = defaulted(changed)
        if live is not None and after == live and owners == self._owners[ref]:
            return _copy(live)
        if live is not None:
            _refuse_immutable(live, after)
            _refuse_ambiguous_ports(after)
        else:
            self._uids += 1
            after["metadata"] = named(after["metadata"], self._uids, self.now())
        after["metadata"] = accounted(live, after, owners, self.now())
        self._version += 1
        after["metadata"]["resourceVersion"] = str(self._version)
        self._objects[ref], self._owners[ref] = after, owners
        if self.cache is not None:
            self.cache.put(_copy(after))
        if "deletionTimestamp" in after["metadata"] and not after["metadata"].get("finalizers"):
            self.remove(ref)
        return _copy(after)


def _refuse_immutable(live: Manifest, after: Manifest) -> None:
    if after["kind"] == "Deployment" and live["spec"].get("selector") != after["spec"].get("selector"):
        raise Refused("Invalid", f"{ref_of(after)} is invalid: spec.selector: field is immutable")


def _refuse_ambiguous_ports(after: Manifest) -> None:
    names = [port.get("name") for port in after["spec"].get("ports") or ()] if after["kind"] == "Service" else []
    if len(set(names)) < len(names):
        raise Refused("Invalid", f"{ref_of(after)} is invalid: spec.ports: Duplicate value")


def _merged(live: Manifest, patch: Manifest) -> Manifest:
    """RFC 7386."""
    changed = {
        key: _merged(live[key], value) if isinstance(value, dict) and isinstance(live.get(key), dict) else value
        for key, value in patch.items()
    }
    return {key: value for key, value in {**live, **changed}.items() if value is not None}


def _copy(manifest: Manifest) -> Manifest:
    """A deep copy by way of JSON, so that nothing else can be kept."""
    copied: Manifest = orjson.loads(orjson.dumps(manifest))
    return copied
