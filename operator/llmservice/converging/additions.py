"""What other writers added to our objects: left in place, and reported, since it may be why a service does not work."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.converging.diagnosis import sentence
from llmservice.objects.names import CONTAINER_NAME
from llmservice.objects.references import Manifest, Ref, ref_of
from llmservice.objects.workloads import is_workload, pod_templates

_LISTS = {"containers": "container", "initContainers": "init container"}
_NAMED_AT_MOST = 6
_LONGEST_NAME = 64


def modified_condition(
    children: Mapping[Ref, Manifest], intents: Iterable[Manifest], contests: Iterable[str]
) -> Condition | None:
    """`ChildrenModified`: who overwrites our fields, else what was added beside them; None when neither is the case."""
    if contested := "; ".join(contests):
        message = f"{contested}; repairs back off to every five minutes: stop the other writer"
        return _condition(Reason.CONTESTED, message)
    found = [text for intent in intents if (live := children.get(ref_of(intent))) for text in _additions(live, intent)]
    if not found:
        return None
    more = f" and {len(found) - _NAMED_AT_MOST} more" if len(found) > _NAMED_AT_MOST else ""
    return _condition(
        Reason.FOREIGN_ADDITION,
        f"{sentence(', '.join(found[:_NAMED_AT_MOST]))}{more}: added by another writer and left in place; "
        "remove it if it is not intended",
    )


def _condition(reason: Reason, message: str) -> Condition:
    return Condition(type=ConditionType.CHILDREN_MODIFIED, status=True, reason=reason, message=message)


def _additions(live: Manifest, intent: Manifest) -> Iterator[str]:
    """Each as "container istio-proxy in Deployment chat"."""
    where = f"in {intent['kind']} {intent['metadata']['name']}"
    if intent["kind"] == "Service":
        for port in _beside(live["spec"], intent["spec"], "ports", _port):
            yield f"port {port} {where}"
    elif is_workload(intent):
        for theirs, ours in zip(pod_templates(live), pod_templates(intent), strict=True):
            yield from (f"{what} {where}" for what in _additions_of_pods(theirs["spec"], ours["spec"]))


def _additions_of_pods(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    """Each as "container istio-proxy"."""
    for field, word in _LISTS.items():
        yield from (f"{word} {name}" for name in _beside(theirs, ours, field, _name))
    yield from (f"environment variable {name}" for name in _beside(_engine(theirs), _engine(ours), "env", _name))


def _beside(
    live: Mapping[str, Any], intent: Mapping[str, Any], field: str, name: Callable[[Mapping[str, Any]], str]
) -> Iterator[str]:
    """The names of list elements that are in the live object and not in the intent."""
    theirs, ours = live.get(field) or (), intent.get(field) or ()
    if len(theirs) > len(ours):
        known = set(map(name, ours))
        yield from (named[:_LONGEST_NAME] for named in map(name, theirs) if named not in known)


def _name(item: Mapping[str, Any]) -> str:
    return str(item["name"])


def _port(item: Mapping[str, Any]) -> str:
    protocol = item.get("protocol", "TCP")
    return str(item["port"]) if protocol == "TCP" else f"{item['port']}/{protocol}"


def _engine(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    containers = pod.get("containers") or ()
    return next((item for item in containers if item.get("name") == CONTAINER_NAME), {})
