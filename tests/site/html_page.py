"""What a page of HTML has and asks for."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Self

_LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src")}


class HtmlPage(HTMLParser):
    """`ids` are its anchors, `links` what it leads to, `loaded` what a browser loads with it."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()

    @classmethod
    def read(cls, path: Path) -> Self:
        page = cls()
        page.feed(path.read_text("utf-8"))
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value for name, value in attrs if value}
        if "id" in named:
            self.ids.add(named["id"])
        if tag == "a" and "href" in named:
            self.links.add(named["href"])
        if named.get("rel") != "canonical":
            self.loaded |= {named[name] for of, name in _LOADED if of == tag and name in named}
