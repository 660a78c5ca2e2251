"""The object cache: the newest version seen of each object, found by reference or by LLMService."""

import math
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from llmservice.cluster.caching.trimming import trimmed
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, Ref, ref_of, uid_of

Listener = Callable[[Manifest | None, Manifest | None], None]
"""Called with an object before and after a change; None is absence."""

_REMEMBERED_DELETIONS = 10_000
_ANEW = math.inf
"""A list of another history is true about every version known."""

_ServiceKey = tuple[str, str, str]
"""Kind, namespace and LLMService name."""


@dataclass(slots=True)
class ObjectCache:
    """The newest of what watches, lists and our own writes returned.

    Sources race: a watch may deliver an object that the response to a write has overtaken, and a response may arrive
    after the object was deleted. The newer resource version wins (compared as a number, as Kubernetes allows within one
    kind since it is etcd's revision). A list overrides everything up to its own version, and everything there is when
    etcd was restored to older data. Cached objects are shared, not copied: do not change them. Belongs to one event
    loop.
    """

    keep: Callable[[Manifest], Manifest] = trimmed
    _objects: dict[str, dict[Ref, Manifest]] = field(default_factory=lambda: defaultdict(dict))
    _by_service: dict[_ServiceKey, dict[Ref, Manifest]] = field(default_factory=lambda: defaultdict(dict))
    _deleted: OrderedDict[Ref, int] = field(default_factory=OrderedDict)
    _newest: dict[str, int] = field(default_factory=dict)
    _listeners: list[Listener] = field(default_factory=list)

    def listen(self, listener: Listener) -> None:
        """Call this on every change from now on."""
        self._listeners.append(listener)

    def get(self, ref: Ref) -> Manifest | None:
        """The newest object of this reference; None when it is not there."""
        objects = self._objects.get(ref.kind)
        return objects.get(ref) if objects else None

    def of_kind(self, kind: str, namespace: str = "") -> tuple[Manifest, ...]:
        """All objects of a kind, or those in one namespace.

        All of them may be asked for from another thread: the copy is one step for the GIL.
        """
        objects = self._objects.get(kind, {})
        if not namespace:
            return tuple(objects.values())
        return tuple(live for ref, live in objects.items() if ref.namespace == namespace)

    def of_service(self, kind: str, namespace: str, name: str) -> tuple[Manifest, ...]:
        """The objects of a kind labelled with this LLMService's name."""
        return tuple(self._by_service.get((kind, namespace, name), {}).values())

    def newest(self, kind: str) -> int:
        """The highest version seen of a kind in this history, from any source; -1 when there is none."""
        return self._newest.get(kind, -1)

    def hear(self, kind: str, version: int) -> None:
        """Note that an object or bookmark of this kind was received at this version."""
        if version > self.newest(kind):
            self._newest[kind] = version

    def put(self, manifest: Manifest, *, quietly: bool = False, true_at: float = -1) -> bool:
        """Keep an object; false when the cached one is as new or newer, or was deleted after this version.

        `quietly` notifies no listener: it is for the response to a write whose writer continues with it. `true_at` is
        the version at which the API server listed or read the object: the cached one gives way up to there, whatever
        version it claims.
        """
        ref, version = ref_of(manifest), version_of(manifest)
        before = self.get(ref)
        known = version_of(before) if before is not None else self._deleted.get(ref, -1)
        self.hear(ref.kind, version)
        gives_way = known <= true_at and (version < known or true_at == _ANEW or not _is_same(before, manifest))
        if 0 <= version <= known and not gives_way:
            return False
        after = self.keep(manifest)
        if before is not None:
            self._unindex(ref, before)
        self._objects[ref.kind][ref] = after
        if key := _service_key(after):
            self._by_service[key][ref] = after
        self._deleted.pop(ref, None)
        if not quietly:
            self._tell(before, after)
        return True

    def drop(self, ref: Ref, version: int) -> bool:
        """Remove an object; false when it is not cached, or newer than the version at which it was deleted."""
        before = self.get(ref)
        known = version_of(before) if before is not None else -1
        return False if known > version else self._forget(ref, version)

    def drop_uid(self, ref: Ref, uid: str) -> bool:
        """Remove the object with this UID, whatever its version. A successor stays: it is told only once."""
        before = self.get(ref)
        if before is None or uid_of(before) != uid:
            return False
        return self._forget(ref, version_of(before))

    def replace_all(
        self, kind: str, manifests: Iterable[Manifest], version: int, namespace: str = "", *, anew: bool = False
    ) -> tuple[Ref, ...]:
        """Replace all objects of a list's selection by the list; returns what vanished.

        Objects newer than the list stay: they were written while the list was read, and the watch that starts at the
        list's version delivers the rest. `anew` is for the first list after etcd was restored: cached objects and
        deletions no longer count, and listeners are called for every object.
        """
        if anew:
            self._forget_versions(kind, namespace)
        listed = {ref_of(manifest): manifest for manifest in manifests}
        true_at = _ANEW if anew else version
        for manifest in listed.values():
            self.put(manifest, true_at=true_at)
        self.hear(kind, version)
        absent = [
            ref
            for ref in self._objects.get(kind, {})
            if ref not in listed and (not namespace or ref.namespace == namespace)
        ]
        return tuple(ref for ref in absent if (self._forget(ref, version) if anew else self.drop(ref, version)))

    def __len__(self) -> int:
        return sum(map(len, self._objects.values()))

    def _forget(self, ref: Ref, version: int) -> bool:
        self._remember_deletion(ref, version)
        self.hear(ref.kind, version)
        before = self._objects[ref.kind].pop(ref, None)
        if before is None:
            return False
        self._unindex(ref, before)
        self._tell(before, None)
        return True

    def _forget_versions(self, kind: str, namespace: str) -> None:
        self._newest.pop(kind, None)
        for ref in [ref for ref in self._deleted if ref.kind == kind and namespace in {"", ref.namespace}]:
            del self._deleted[ref]

    def _remember_deletion(self, ref: Ref, version: int) -> None:
        self._deleted[ref] = max(version, self._deleted.pop(ref, -1))
        if len(self._deleted) > _REMEMBERED_DELETIONS:
            self._deleted.popitem(last=False)

    def _unindex(self, ref: Ref, manifest: Manifest) -> None:
        if key := _service_key(manifest):
            labelled = self._by_service[key]
            labelled.pop(ref, None)
            if not labelled:
                del self._by_service[key]

    def _tell(self, before: Manifest | None, after: Manifest | None) -> None:
        for listener in self._listeners:
            listener(before, after)


def version_of(manifest: Mapping[str, object]) -> int:
    """The resource version as a number; -1 when there is none."""
    metadata = manifest["metadata"]
    version = metadata.get("resourceVersion", "") if isinstance(metadata, Mapping) else ""
    return int(version) if isinstance(version, str) and version.isdecimal() else -1


def _is_same(before: Manifest | None, manifest: Manifest) -> bool:
    return before is not None and uid_of(before) == uid_of(manifest)


def _service_key(manifest: Manifest) -> _ServiceKey | None:
    metadata = manifest["metadata"]
    name = (metadata.get("labels") or {}).get(NAME_LABEL)
    return (manifest["kind"], metadata.get("namespace", ""), name) if name else None
