"""A Git server on loopback: `git http-backend` behind a small HTTP server, for repositories that tests write."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

BRANCH = "main"
_AUTHOR = {"GIT_AUTHOR_NAME": "team", "GIT_AUTHOR_EMAIL": "team@example.com"}
_COMMITTER = {"GIT_COMMITTER_NAME": "team", "GIT_COMMITTER_EMAIL": "team@example.com"}
_GIT = {**_AUTHOR, **_COMMITTER, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


class Repository:
    """A repository of files by their paths; every commit replaces all of them."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        folder.mkdir(parents=True)
        self._git("init", "--quiet", f"--initial-branch={BRANCH}")

    def commit(self, files: Mapping[str, str]) -> str:
        """Have exactly these files; returns the commit."""
        for path in self.folder.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self._commit()

    def commit_folders(self, root: Path, *folders: str) -> str:
        """Have these folders of another one, as they stand there."""
        for name in folders:
            shutil.rmtree(self.folder / name, ignore_errors=True)
            shutil.copytree(root / name, self.folder / name)
        return self._commit()

    def _commit(self) -> str:
        self._git("add", "--all", "--force")
        self._git("commit", "--quiet", "--allow-empty", "--message=change")
        return self._git("rev-parse", "HEAD").strip()

    def tag(self, name: str) -> None:
        """Tag what was committed last."""
        self._git("tag", "--force", name)

    def _git(self, *arguments: str) -> str:
        return subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607
            cwd=self.folder,
            env={**os.environ, **_GIT},
            capture_output=True,
            text=True,
            check=True,
        ).stdout


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """Serve the repositories below a folder; yields the URL of the folder."""
    handler = type("Handler", (_Handler,), {"root": root})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One request is one run of `git http-backend`, by the rules of CGI (RFC 3875)."""

    root: Path
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, body: bytes) -> None:
        done = subprocess.run(
            ["git", "http-backend"],  # noqa: S607
            input=body,
            env={**os.environ, **_GIT, **self._variables(len(body))},
            capture_output=True,
            check=True,
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _variables(self, length: int) -> dict[str, str]:
        url = urlsplit(self.path)
        return {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": url.path,
            "QUERY_STRING": url.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(length),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }

    def log_message(self, *_: object) -> None:
        """Nothing: the tests say what matters."""
