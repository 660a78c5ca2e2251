"""Every page has its place in the navigation, and the navigation no page twice."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tools.website.hook import ROOT_PAGES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


class _Loader(yaml.SafeLoader):
    """YAML with the tags of mkdocs, which name functions, as text."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/name:", lambda _loader, suffix, _node: suffix)
CONFIG: dict[str, Any] = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), _Loader)  # noqa: S506  (derived from SafeLoader)


def pages_in(nav: Any) -> Iterator[str]:
    """The pages of the navigation, in its order."""
    if isinstance(nav, str):
        yield nav
    for each in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from pages_in(each)


def test_every_page_stands_in_the_navigation_once() -> None:
    counted = Counter(pages_in(CONFIG["nav"]))
    there = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | set(ROOT_PAGES.values())
    assert sorted(there - counted.keys()) == [], "add a line to `nav` in mkdocs.yml"
    assert sorted(counted.keys() - there) == []
    assert [page for page, times in counted.items() if times > 1] == []


def test_tutorials_come_first() -> None:
    titles = [next(iter(part)) for part in CONFIG["nav"]]
    assert titles[:3] == ["Home", "Tutorials", "How-to guides"]


def test_nothing_is_loaded_from_elsewhere() -> None:
    assert CONFIG["theme"]["font"] is False
    assert "repo_url" not in CONFIG, "the theme asks GitHub for the stars of a repository"
    assert [path for path in CONFIG["extra_css"] if path.startswith("http")] == []
