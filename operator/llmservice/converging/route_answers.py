"""What the controllers of Gateways say about a route, read from its `status.parents`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.objects.references import Manifest

ACCEPTED, RESOLVED = "Accepted", "ResolvedRefs"
_SAYS = {"True": True, "False": False}
_PARENT = ("group", "kind", "namespace", "name", "sectionName", "port")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One condition of one parent. `holds` is None for Unknown; `reason` and `message` are a stranger's text."""

    holds: bool | None
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """A parent that the route names, and what was said for it; None where nobody has said anything yet."""

    ref: Mapping[str, Any]
    accepted: Answer | None
    resolved: Answer | None

    def named(self, namespace: str) -> str:
        """As "Gateway infra/shared, listener https"; `namespace` is the route's own."""
        ref = self.ref
        listener = f", listener {ref['sectionName']}" if "sectionName" in ref else ""
        port = f", port {ref['port']}" if "port" in ref else ""
        return f"{ref.get('kind', 'Gateway')} {ref.get('namespace', namespace)}/{ref['name']}{listener}{port}"


def parents_of(route: Manifest) -> tuple[Parent, ...]:
    """Every parent of an HTTPRoute as it stands, with what was said of its newest generation.

    Where several controllers answer for one parent, one that accepts is enough.
    """
    said = list(_entries(route))
    namespace = route["metadata"]["namespace"]
    return tuple(
        Parent(ref=ref, accepted=_best(route, found, ACCEPTED), resolved=_best(route, found, RESOLVED))
        for ref in (route.get("spec") or {}).get("parentRefs") or ()
        for found in ([entry for entry in said if _is_same(entry.get("parentRef") or {}, ref, namespace)],)
    )


def refusals(pool: Manifest) -> Iterator[Answer]:
    """What the parents of an InferencePool say against it."""
    for entry in _entries(pool):
        for kind in (ACCEPTED, RESOLVED):
            answer = _answer(pool, entry, kind)
            if answer is not None and answer.holds is False:
                yield answer


def _entries(manifest: Manifest) -> Iterator[Mapping[str, Any]]:
    return iter((manifest.get("status") or {}).get("parents") or ())


def _best(route: Manifest, entries: list[Mapping[str, Any]], kind: str) -> Answer | None:
    answers = [answer for entry in entries if (answer := _answer(route, entry, kind)) is not None]
    return next((answer for answer in answers if answer.holds), answers[0] if answers else None)


def _answer(manifest: Manifest, entry: Mapping[str, Any], kind: str) -> Answer | None:
    """What is said of this generation; an answer about an earlier one counts as none, where it says which."""
    found = next((item for item in entry.get("conditions") or () if item.get("type") == kind), None)
    newest = manifest["metadata"].get("generation", 0)
    if found is None or found.get("observedGeneration", newest) < newest:
        return None
    holds = _SAYS.get(str(found.get("status")))
    return Answer(holds=holds, reason=str(found.get("reason", "")), message=str(found.get("message", "")))


def _is_same(said: Mapping[str, Any], ref: Mapping[str, Any], namespace: str) -> bool:
    defaults = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": namespace}
    return all(said.get(key, defaults.get(key)) == ref.get(key, defaults.get(key)) for key in _PARENT)
