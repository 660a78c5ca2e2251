"""A stand-in for a server that speaks OpenAI's protocol: it lists a model and streams nothing but its token counts.

A fake: what real engines answer is tested in `tests/bench`.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

KEY = "sk-of-a-client"


class _Answers(BaseHTTPRequestHandler):
    key = ""
    counts = True
    status = 200
    headers_too: ClassVar[dict[str, str]] = {}

    def do_GET(self) -> None:
        self._answer(json.dumps({"data": [{"id": "tiny"}]}))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words = len(asked["messages"][0]["content"].split())
        usage = {"prompt_tokens": 10 + 2 * words} if self.counts else None
        self._answer(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\ndata: [DONE]\n\n")

    def _answer(self, text: str) -> None:
        refused = self.key and self.headers.get("Authorization") != f"Bearer {self.key}"
        self.send_response(401 if refused else self.status)
        for name, value in self.headers_too.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def openai_server(
    *, key: str = "", counts: bool = True, status: int = 200, headers: dict[str, str] | None = None
) -> Iterator[str]:
    """Its base URL; it asks for a key if there is one, and counts tokens: ten, and two for each word."""
    has = {"key": key, "counts": counts, "status": status, "headers_too": headers or {}}
    answers = type("Answers", (_Answers,), has)
    server = ThreadingHTTPServer(("127.0.0.1", 0), answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
