"""An API server of a few lines, for verbs that read a cluster: objects by kind, what is forbidden, what was asked."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from llmservice.cluster.kinds import KINDS

Json = dict[str, Any]

_KIND_OF = {kind.plural: kind.kind for kind in KINDS.values()}
_NOT_FOUND = (404, {"kind": "Status", "code": 404, "reason": "NotFound", "message": "not found"})


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

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, Json | str]:
        """Status and body of a GET."""
        self.asked.append((path, query))
        parts = path.strip("/").split("/")
        plural = next((part for part in reversed(parts) if part in _KIND_OF), "")
        if plural in self.forbidden or parts[-1] in self.forbidden:
            return 403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": f"{plural} is forbidden"}
        found = [each for each in self.objects if each["kind"] == _KIND_OF.get(plural)]
        if "namespaces" in parts and plural:
            found = [
                each for each in found if each["metadata"].get("namespace") == parts[parts.index("namespaces") + 1]
            ]
        if parts[-1] == "log":
            return (200, self.logs[parts[-2]]) if parts[-2] in self.logs else (400, {"kind": "Status", "code": 400})
        if parts[-1] == plural:
            return 200, {"metadata": {"resourceVersion": "1"}, "items": [*_selected(found, query)]}
        return next(((200, each) for each in found if each["metadata"]["name"] == parts[-1]), _NOT_FOUND)


def _selected(found: list[Json], query: dict[str, str]) -> Iterator[Json]:
    wanted = [term.partition("=") for term in query.get("labelSelector", "").split(",") if term]
    for each in found:
        labels = each["metadata"].get("labels") or {}
        if all((name in labels) if not equals else labels.get(name) == value for name, equals, value in wanted):
            yield each


@contextmanager
def small_cluster(folder: Path) -> Iterator[SmallCluster]:
    """It runs, and its kubeconfig with the namespace `ml` is in the folder."""
    has = SmallCluster(kubeconfig=folder / "kubeconfig")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            self.tell(*has.answer(url.path, {name: values[0] for name, values in parse_qs(url.query).items()}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.tell(*(_NOT_FOUND if has.on_post is None else (201, has.on_post(body))))

        def do_DELETE(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            has.deleted.append(self.path.rpartition("/")[2])
            self.tell(200, {"kind": "Status"})

        def tell(self, code: int, body: Json | str) -> None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "ml"}}],
        "current-context": "c",
    }
    has.kubeconfig.write_text(json.dumps(content))
    yield has
    server.shutdown()
    server.server_close()
