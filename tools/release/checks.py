"""What keeps a release from being made. Each problem says what to do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tools.release.changelog import Section

_NUMBER = r"(?:0|[1-9]\d*)"
_PART = r"[0-9A-Za-z-]+"
_SEMVER = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PART}(?:\.{_PART})*)?")
_MOST_FILES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A checkout: the version it says it is, files that differ from the commit, its sections of the changelog."""

    version: str
    changed: Sequence[str]
    section: Section | None


def is_semver(version: str) -> bool:
    """Whether it is a version by semver.org that is a tag of an image, too: no `+build`, no leading `v`."""
    return _SEMVER.fullmatch(version) is not None


def problems(version: str, tree: Tree, *, final: bool = False) -> list[str]:
    """Why no release of this version can be made from this tree. `final` asks for the day of the release."""
    found = []
    if not is_semver(version):
        found.append(f"VERSION={version!r} is no version of semver.org that a tag can be, such as 0.1.0 or 0.2.0-rc.1")
    elif version != tree.version:
        found.append(f"VERSION={version}, but the tree is {tree.version}: `make rename VERSION={version}` changes it")
    if tree.changed:
        found.append(f"the tree has changes that are not committed: {_some(tree.changed)}; commit or remove them")
    return found + _of_the_changelog(version, tree.section, final=final)


def _of_the_changelog(version: str, section: Section | None, *, final: bool) -> list[str]:
    if section is None:
        return [f"CHANGELOG.md has nothing under `## {version}`: the release notes are that section"]
    if final and not section.is_dated:
        return [f"CHANGELOG.md: the heading of {version} has no day; write `## {version} - YYYY-MM-DD`"]
    return []


def _some(files: Sequence[str]) -> str:
    more = len(files) - _MOST_FILES
    return ", ".join(files[:_MOST_FILES]) + (f" and {more} more" if more > 0 else "")
