"""A real browser, Debian's chromium, on the page of a cluster that a test writes."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.ui.fake_cluster import FakeCluster, fake_cluster
from tests.ui.page_process import serving


@dataclass
class Shown:
    """The page in the browser. `troubles` are what its console and its content policy complained of."""

    page: Page
    cluster: FakeCluster
    address: str
    asked: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "there is no chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, folder: Path, cluster: FakeCluster, *, dark: bool = False, width: int = 1280, height: int = 900
) -> Iterator[Shown]:
    """The page, opened at the address that the command printed, in a window of this size."""
    with fake_cluster(folder, cluster) as kubeconfig, serving(kubeconfig) as address:
        page = browser.new_page(color_scheme="dark" if dark else "light", viewport={"width": width, "height": height})
        page.set_default_timeout(15_000)
        shown = Shown(page, cluster, address)
        page.on("request", lambda request: shown.asked.append(request.url))
        page.on("console", lambda message: shown.troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: shown.troubles.append(str(error)))
        page.goto(address)
        page.wait_for_selector("#count")
        try:
            yield shown
        finally:
            page.close()
