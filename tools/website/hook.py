"""A hook of mkdocs: pages of the repository's root are part of the site, and links to them lead there."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]

ROOT_PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing/index.md", "SECURITY.md": "security.md"}
"""What lies in the repository's root, and its place in the site."""

_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root."""
    for source, place in ROOT_PAGES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn links of the repository into links of the site."""
    return site_links(markdown, page.file.src_uri)


def site_links(markdown: str, place: str) -> str:
    """`markdown` of the page at `place` in the site, its links as they are there.

    A link to what the site does not have, such as a file of code, becomes its text.
    """
    source = next((name for name, at in ROOT_PAGES.items() if at == place), f"docs/{place}")

    def rewritten(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        inside = ROOT_PAGES.get(path, path.removeprefix("docs/") if path.startswith("docs/") else "")
        if not inside:
            return text
        return f"[{text}]({posixpath.relpath(inside, posixpath.dirname(place) or '.')}{anchor})"

    return _LINK.sub(rewritten, markdown)
