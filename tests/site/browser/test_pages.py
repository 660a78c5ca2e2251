"""Every page in a browser: narrow and wide, light and dark. Pictures are kept in build/site-pictures."""

import pytest
from playwright.sync_api import Browser

from tests.site.browser.conftest import PICTURES
from tests.site.browser.looking import Screen, keep_picture, too_wide, violations, visiting
from tests.site.test_navigation import CONFIG, pages_in

SCREENS = [Screen(width, scheme) for width in (390, 1440) for scheme in ("light", "dark")]
PAGES = [page.removesuffix(".md") for page in pages_in(CONFIG["nav"])]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: f"{screen.width}-{screen.scheme}")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_read(browser: Browser, address: str, page: str, screen: Screen) -> None:
    with visiting(browser, screen, f"{address}{page}.html") as visit:
        keep_picture(visit.page, PICTURES / f"{page.replace('/', '-')}-{screen.width}-{screen.scheme}.png")
        assert visit.page.locator("article h1").count() == 1
        assert too_wide(visit.page) == []
        assert violations(visit.page) == []
        assert (visit.errors, visit.outside) == ([], [])


@pytest.mark.parametrize(("scheme", "named"), [("light", "default"), ("dark", "slate")])
def test_the_palette_follows_the_system(browser: Browser, address: str, scheme: str, named: str) -> None:
    screen = next(screen for screen in SCREENS if screen.scheme == scheme)
    with visiting(browser, screen, f"{address}index.html") as visit:
        assert visit.page.get_attribute("body", "data-md-color-scheme") == named


def test_the_search_finds_a_reason_at_its_place(browser: Browser, address: str) -> None:
    with visiting(browser, SCREENS[-1], f"{address}index.html") as visit:
        visit.page.fill("input.md-search__input", "KVCacheTooSmall")
        found = visit.page.locator(".md-search-result__link")
        found.first.wait_for()
        links = [str(each.get_attribute("href")) for each in found.all()]
        assert any("reference/reasons.html" in link and "#kvcachetoosmall" in link for link in links), links
        assert (visit.errors, visit.outside) == ([], [])
