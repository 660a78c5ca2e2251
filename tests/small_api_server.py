"""An API server of a few lines on loopback: it answers each request by what it is given."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: path, the last value of each parameter, bearer token, the names of the headers, and the body."""

    path: str
    query: dict[str, str]
    token: str
    headers: frozenset[str]
    method: str = "GET"
    body: Json = field(default_factory=dict)


Answer = tuple[int, Json | str]
"""Status and body; a text is sent as it is."""


class Answering(Protocol):
    """What a test knows of a cluster."""

    def answer(self, asked: Asked) -> Answer:
        """Status and body; may be replaced while the server runs."""
        ...


@contextmanager
def small_api_server(folder: Path, cluster: Answering) -> Iterator[Path]:
    """It answers as long as the block runs; its kubeconfig, with the namespace `ml`, is in the folder."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            names = frozenset(map(str.lower, self.headers))
            sent = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            query = dict(parse_qsl(url.query))
            self._send(*cluster.answer(Asked(url.path, query, token, names, self.command, sent)))

        do_POST = do_DELETE = do_GET  # noqa: N815  (the names that http.server looks for)

        def _send(self, code: int, body: Json | str) -> None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        config = folder / "kubeconfig"
        config.write_text(json.dumps(kubeconfig(f"http://127.0.0.1:{server.server_port}")))
        try:
            yield config
        finally:
            server.shutdown()


def kubeconfig(server: str) -> Json:
    """One context, in the namespace `ml`."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "ml"}}],
        "current-context": "c",
    }


def listed(items: list[Json]) -> Answer:
    """The answer to a list."""
    return 200, {"metadata": {"resourceVersion": "1"}, "items": items}


def refusal(code: int, reason: str, message: str) -> Answer:
    """A Status of Kubernetes."""
    return code, {"kind": "Status", "code": code, "reason": reason, "message": message}
