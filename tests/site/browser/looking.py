"""A page as a reader has it before them, and what is wrong with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Route

Scheme = Literal["light", "dark"]
_HEIGHT = 900
_PICTURE = 4000
_RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}
_WIDER = """() => [...document.querySelectorAll('body *')].filter(each => {
  const box = each.getBoundingClientRect();
  if (!box.width || box.right <= document.documentElement.clientWidth + 1) return false;
  for (let at = each; at !== document.body; at = at.parentElement)
    if (getComputedStyle(at).overflowX !== 'visible' || getComputedStyle(at).position === 'fixed') return false;
  return true;
}).map(each => each.tagName + ' ' + each.textContent.trim().slice(0, 60))"""


class Screen(NamedTuple):
    """What a reader looks at."""

    width: int
    scheme: Scheme


class Visit(NamedTuple):
    """An open page; `errors` are those of its console, `outside` what it asked others for."""

    page: Page
    errors: list[str]
    outside: list[str]


@contextmanager
def visiting(browser: Browser, screen: Screen, address: str) -> Iterator[Visit]:
    """Open the page. What leaves the machine is refused, and noted."""
    context = browser.new_context(
        viewport={"width": screen.width, "height": _HEIGHT}, color_scheme=screen.scheme, reduced_motion="reduce"
    )
    visit = Visit(context.new_page(), [], [])

    def pass_on(route: Route) -> None:
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            visit.outside.append(route.request.url)
            route.abort()

    def note(said: ConsoleMessage) -> None:
        if said.type == "error":
            visit.errors.append(said.text)

    context.route("**/*", pass_on)
    visit.page.on("console", note)
    visit.page.on("pageerror", lambda error: visit.errors.append(str(error)))
    visit.page.goto(address, wait_until="networkidle")
    try:
        yield visit
    finally:
        context.close()


def look_at(page: Page, screen: Screen) -> None:
    """Turn the open page to another screen, and wait until its colours have changed."""
    page.set_viewport_size({"width": screen.width, "height": _HEIGHT})
    page.emulate_media(color_scheme=screen.scheme, reduced_motion="reduce")
    named = "slate" if screen.scheme == "dark" else "default"
    page.wait_for_selector(f"body[data-md-color-scheme={named}]")
    page.evaluate("Promise.all(document.getAnimations().map(each => each.finished.catch(() => null)))")


def too_wide(page: Page) -> list[str]:
    """What sticks out of the page to the right, where the page itself would scroll sideways."""
    wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    return list(page.evaluate(_WIDER)) or ["the page"] if wide else []


def violations(page: Page) -> list[str]:
    """What axe-core finds against WCAG 2.1, A and AA: contrast among it."""
    found: list[dict[str, Any]] = Axe().run(page, options=_RULES).response["violations"]
    return [f"{each['id']}: {node['target']} {node['html'][:120]}" for each in found for node in each["nodes"]]


def keep_picture(page: Page, path: Path) -> None:
    """The page from its top, as far as it goes or a few screens."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = page.viewport_size
    assert size
    height = min(_PICTURE, int(page.evaluate("document.documentElement.scrollHeight")))
    page.screenshot(path=path, full_page=True, clip={"x": 0, "y": 0, "width": size["width"], "height": height})
