"""A cluster for verbs that read one: objects by kind, what is forbidden, what was asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llmservice.cluster.kinds import KINDS
from tests.small_api_server import Answer, Asked, listed, refusal, small_api_server

Json = dict[str, Any]

_KIND_OF = {kind.plural: kind.kind for kind in KINDS.values()}


@dataclass
class SmallCluster:
    """`objects` are all there is; `forbidden` has plurals; `logs` are texts by the pod's name.

    `on_post` says what becomes of an object that a client makes; without it none can be made. `deleted` has names.
    """

    objects: list[Json] = field(default_factory=list)
    forbidden: set[str] = field(default_factory=set)
    logs: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    on_post: Callable[[Json], Json] | None = None
    deleted: list[str] = field(default_factory=list)
    kubeconfig: Path = Path()

    def answer(self, asked: Asked) -> Answer:
        """Status and body; what is made becomes what `on_post` says, what is deleted is noted."""
        if asked.method == "POST":
            return refusal(404, "NotFound", "not found") if self.on_post is None else (201, self.on_post(asked.body))
        if asked.method == "DELETE":
            self.deleted.append(asked.path.rpartition("/")[2])
            return 200, {"kind": "Status"}
        path, query = asked.path, asked.query
        self.asked.append((path, query))
        parts = path.strip("/").split("/")
        plural = next((part for part in reversed(parts) if part in _KIND_OF), "")
        if plural in self.forbidden or parts[-1] in self.forbidden:
            return refusal(403, "Forbidden", f"{plural} is forbidden")
        found = [each for each in self.objects if each["kind"] == _KIND_OF.get(plural)]
        if "namespaces" in parts and plural:
            found = [
                each for each in found if each["metadata"].get("namespace") == parts[parts.index("namespaces") + 1]
            ]
        if parts[-1] == "log":
            return (200, self.logs[parts[-2]]) if parts[-2] in self.logs else refusal(400, "BadRequest", "no log")
        if parts[-1] == plural:
            return listed([*_selected(found, query)])
        named = next((each for each in found if each["metadata"]["name"] == parts[-1]), None)
        return (200, named) if named else refusal(404, "NotFound", "not found")


def _selected(found: list[Json], query: dict[str, str]) -> Iterator[Json]:
    wanted = [term.partition("=") for term in query.get("labelSelector", "").split(",") if term]
    for each in found:
        labels = each["metadata"].get("labels") or {}
        if all((name in labels) if not equals else labels.get(name) == value for name, equals, value in wanted):
            yield each


@contextmanager
def small_cluster(folder: Path) -> Iterator[SmallCluster]:
    """It runs, and its kubeconfig with the namespace `ml` is in the folder."""
    has = SmallCluster()
    with small_api_server(folder, has) as kubeconfig:
        has.kubeconfig = kubeconfig
        yield has
