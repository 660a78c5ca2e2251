"""Every page in a browser: narrow and wide, light and dark. Pictures are kept in build/site-pictures."""

import pytest
from playwright.sync_api import Browser

from tests.site.browser.conftest import PICTURES
from tests.site.browser.looking import Scheme, Screen, keep_picture, look_at, too_wide, violations, visiting
from tests.site.test_navigation import CONFIG, pages_in

WIDTHS = (1440, 390)
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
PAGES = [page.removesuffix(".md") for page in pages_in(CONFIG["nav"])]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_read(browser: Browser, address: str, page: str) -> None:
    found = []
    with visiting(browser, Screen(WIDTHS[0], SCHEMES[0]), f"{address}{page}.html") as visit:
        assert visit.page.locator("article h1").count() == 1
        for scheme in SCHEMES:
            for width in WIDTHS:
                screen = Screen(width, scheme)
                look_at(visit.page, screen)
                keep_picture(visit.page, PICTURES / f"{page.replace('/', '-')}-{width}-{scheme}.png")
                found += [(screen, each) for each in [*too_wide(visit.page), *violations(visit.page)]]
        assert (found, visit.errors, visit.outside) == ([], [], [])


@pytest.mark.parametrize(("scheme", "named"), [("light", "default"), ("dark", "slate")])
def test_the_palette_follows_the_system(browser: Browser, address: str, scheme: Scheme, named: str) -> None:
    with visiting(browser, Screen(WIDTHS[0], scheme), f"{address}index.html") as visit:
        assert visit.page.get_attribute("body", "data-md-color-scheme") == named


def test_the_search_finds_a_reason_at_its_place(browser: Browser, address: str) -> None:
    with visiting(browser, Screen(WIDTHS[0], SCHEMES[0]), f"{address}index.html") as visit:
        visit.page.click("input.md-search__input")
        visit.page.keyboard.type("KVCacheTooSmall")
        found = visit.page.locator(".md-search-result__link")
        found.first.wait_for()
        links = [str(each.get_attribute("href")) for each in found.all()]
        assert any("reference/reasons.html" in link and "#kvcachetoosmall" in link for link in links), links
        assert (visit.errors, visit.outside) == ([], [])
