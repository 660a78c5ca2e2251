"""The part of a kubelet that hands out logs, over TLS, to the API server."""

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from sandbox.commands import run
from tests.hostile.plays import log_named


@contextmanager
def kubelet(host: str, folder: Path, plays: Mapping[tuple[str, str], str], seed: str) -> Iterator[int]:
    """Serve logs on this address as long as the block runs; the port. `plays` names each pod's log."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            _, what, namespace, pod, *_rest = [*url.path.split("/"), "", "", ""]
            play = plays.get((namespace, pod))
            if what != "containerLogs" or play is None:
                self.send_error(404)
                return
            body = tail(log_named(play, seed), {key: values[0] for key, values in parse_qs(url.query).items()})
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer((host, 0), Handler) as server:
        server.daemon_threads = True
        server.socket = _tls(host, folder).wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def tail(log: bytes, query: Mapping[str, str]) -> bytes:
    """As a kubelet cuts: so many of the last lines, and of these so many bytes from their beginning."""
    lines = log.splitlines(keepends=True)
    kept = b"".join(lines[-int(query["tailLines"]) :]) if "tailLines" in query else log
    return kept[: int(query["limitBytes"])] if "limitBytes" in query else kept


def _tls(host: str, folder: Path) -> ssl.SSLContext:
    """With a certificate of its own making: the sandbox's API server does not ask who signed a kubelet's."""
    key, certificate = folder / "kubelet.key", folder / "kubelet.crt"
    files = ["-keyout", str(key), "-out", str(certificate)]
    new = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=kubelet"]
    run(["openssl", "req", *new, "-addext", f"subjectAltName=IP:{host}", *files])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    return tls
