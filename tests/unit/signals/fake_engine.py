"""Something on loopback that answers /metrics as it is told to."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from llmservice.catalog.loader import load_catalogue
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.registry import ENGINES
from llmservice.signals.source import Target

Answer = Callable[[BaseHTTPRequestHandler], None]
_RECORDED = Path(__file__).parent / "expositions"
VERSIONS = dict(path.stem.split("-", 1) for path in sorted(_RECORDED.glob("*-*.txt")))
"""Of each engine whose page was recorded: the version that it is of."""


def recorded(engine: str) -> bytes:
    """A full exposition with requests running and waiting: of the real engine; TGI's is composed from its source."""
    return (_RECORDED / f"{engine}-{VERSIONS[engine]}.txt").read_bytes()


def metric_names_of(engine: str, version: str = "") -> MetricNames:
    row = load_catalogue().engines[engine].versions[version or VERSIONS[engine]]
    return ENGINES[engine].metric_names(row)


def a_target(pod: str = "chat-0", engine: str = "vllm", port: int = 8000, address: str = "127.0.0.1") -> Target:
    return Target(
        namespace="team", service="chat", pod=pod, address=address, port=port, metric_names=metric_names_of(engine)
    )


def page(content: bytes | str, status: int = 200, **headers: str) -> Answer:
    """An answer in one piece; names of headers are written with underscores."""
    body = content.encode() if isinstance(content, str) else content
    usual = {"Content_Type": "text/plain; version=0.0.4", "Content_Length": str(len(body))}

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in {**usual, **headers}.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return answer


def pieces(piece: bytes, count: int, pause_seconds: float = 0.0) -> Answer:
    """An answer without a length, in many pieces."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(count):
            request.wfile.write(piece)
            time.sleep(pause_seconds)

    return answer


def silence(request: BaseHTTPRequestHandler) -> None:
    """Takes the request and never answers."""
    request.rfile.read()


@dataclass(slots=True)
class FakeEngine:
    """One engine; `answer` may be changed at any time. `requests` counts what came, `headers` are the last ones."""

    port: int = 0
    answer: Answer = field(default_factory=lambda: page(b""))
    requests: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def target(self, pod: str = "chat-0", engine: str = "vllm") -> Target:
        return a_target(pod, engine, self.port)


@contextmanager
def fake_engine(answer: Answer | None = None) -> Iterator[FakeEngine]:
    """An engine that listens as long as the block runs."""
    engine = FakeEngine(answer=answer or page(b""))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            engine.requests += 1
            engine.headers = dict(self.headers)
            try:
                engine.answer(self)
            except OSError:
                return  # the reader has gone away

        do_POST = do_GET  # noqa: N815  (http.server asks for it by this name)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        engine.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield engine
        finally:
            server.shutdown()
            thread.join()
