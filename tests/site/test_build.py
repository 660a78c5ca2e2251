"""The site builds without a warning; every link and anchor of what was built leads somewhere."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.site.conftest import Built
from tests.site.html_page import HtmlPage
from tools.website.hook import ROOT_PAGES, site_links

ROOT = Path(__file__).parents[2]
Pages = Mapping[Path, HtmlPage]


@pytest.fixture(scope="module")
def pages(built: Built) -> Pages:
    """Every page but that for addresses which do not exist: it has links from the root of a server."""
    return {path: HtmlPage.read(path) for path in built.folder.rglob("*.html") if path.name != "404.html"}


def test_the_site_is_built_without_a_warning(built: Built) -> None:
    assert (built.code, [line for line in built.said.splitlines() if "WARNING" in line or "ERROR" in line]) == (0, [])


def test_links_of_the_built_site_lead_somewhere(built: Built, pages: Pages) -> None:
    assert len(pages) > 60
    assert [f"{path.relative_to(built.folder)}: {link}" for path in pages for link in _dead(path, pages)] == []


def test_a_page_loads_nothing_from_elsewhere(pages: Pages) -> None:
    assert {each for page in pages.values() for each in page.loaded if urlsplit(each).netloc} == set()


def _dead(path: Path, pages: Pages) -> Iterator[str]:
    for link in sorted(pages[path].links | pages[path].loaded):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        there = target.exists() and (not parts.fragment or unquote(parts.fragment) in pages[target].ids)
        if not there:
            yield link


@pytest.mark.parametrize(
    ("place", "written", "shown"),
    [
        ("how-to/tenants.md", "see [x](../../SECURITY.md#rights)", "see [x](../security.md#rights)"),
        ("changelog.md", "[x](docs/how-to/fit.md)", "[x](how-to/fit.md)"),
        ("how-to/fit.md", "[x](../reference/cli.md) [y](#z)", "[x](../reference/cli.md) [y](#z)"),
        ("how-to/fit.md", "[code](../../tools/sbom)", "code"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(place: str, written: str, shown: str) -> None:
    assert site_links(written, place) == shown


def test_pages_of_the_root_are_there() -> None:
    assert [name for name in ROOT_PAGES if not (ROOT / name).exists()] == []
