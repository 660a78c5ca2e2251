"""Which parts of a pod are cached: somebody else's pod may have thousands of containers and endless texts."""

from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.cluster.caching.interning import with_interned_values
from llmservice.cluster.caching.kept_metadata import TIMES, annotations_read, group_read, identity
from llmservice.objects.device_amounts import devices_of
from llmservice.objects.groups import is_of_group
from llmservice.objects.names import CONTAINER_NAME
from llmservice.objects.references import Manifest, controller_of

_CONTAINER = ("name", "image")
_SPEC = ("nodeName", "terminationGracePeriodSeconds")
_STATUS = ("phase", "reason", "message", "podIP")
_LISTS = ("conditions", "containerStatuses", "initContainerStatuses")
_ENTRY = (
    *("type", "status", "reason", "message", "lastTransitionTime"),
    *("name", "ready", "started", "restartCount", "state", "lastState"),
)
_MOST_ENTRIES = 32
_LONGEST_NAME = 317
"""Of a resource: a domain of 253 characters, and a name of 63."""
_LONGEST_TEXT = 4096
"""As the kubelet cuts the last words of a container."""


def kept_of_pod(pod: Manifest) -> Manifest:
    """The pod without what nothing reads; of one that is neither of a ReplicaSet nor of a group, only its identity."""
    if controller_of(pod).get("kind") != "ReplicaSet" and not is_of_group(pod):
        return identity(pod)
    kept = identity(pod, *TIMES, "deletionGracePeriodSeconds")
    kept["metadata"] |= annotations_read(pod) | group_read(pod)
    if "spec" in pod:
        kept["spec"] = _spec(pod["spec"])
    if "status" in pod:
        kept["status"] = _status(pod["status"])
    return kept


def _spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_short(spec, _SPEC),
        "containers": [{**_short(item, _CONTAINER), **_devices(item)} for item in _first(spec.get("containers") or ())],
    }


def _devices(container: Mapping[str, Any]) -> dict[str, Any]:
    """The devices it asks for, the first few; those of most pods are the same, and stored once."""
    devices = devices_of({"containers": [container]})
    if not devices:
        return {}
    few = sorted(devices.items())[:_MOST_ENTRIES]
    return with_interned_values({"resources": {"limits": {name[:_LONGEST_NAME]: str(count) for name, count in few}}})


def _status(status: Mapping[str, Any]) -> dict[str, Any]:
    lists = {key: [_short(item, _ENTRY) for item in _first(status[key])] for key in _LISTS if status.get(key)}
    return {**_short(status, _STATUS), **lists}


def _first(entries: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first entries, the engine's container before all others."""
    items = list(entries)
    if len(items) > _MOST_ENTRIES:
        items.sort(key=lambda item: item.get("name") != CONTAINER_NAME)
    return items[:_MOST_ENTRIES]


def _short(given: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: _cut(given[key]) for key in keys if key in given}


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    return {key: _cut(inner) for key, inner in value.items()} if isinstance(value, dict) else value
