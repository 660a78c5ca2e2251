"""The built site on a server of its own, and Debian's chromium."""

import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.site.conftest import Built

PICTURES = Path(__file__).parents[3] / "build" / "site-pictures"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (its name in the class)
        """Say nothing: a page asks for a dozen files."""


@pytest.fixture(scope="session")
def address(built: Built) -> Iterator[str]:
    """Where the site is served, with a slash at the end."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(built.folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium as Debian packages it; it is not to ask anybody for updates."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert program, "`make test-site` installs chromium; CHROMIUM names another browser of its kind"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-background-networking", "--disable-component-update"],
        )
        yield browser
        browser.close()
