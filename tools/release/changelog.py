"""What CHANGELOG.md says of one version: the release notes."""

import re
from dataclasses import dataclass

_HEADING = re.compile(r"^## \[?(?P<version>[^\s\]]+)\]?(?: - (?P<date>\S+))?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """`date` as in the heading, `2026-11-30`; `Unreleased` or empty as long as it has none. `text` as Markdown."""

    version: str
    date: str
    text: str

    @property
    def is_dated(self) -> bool:
        """Whether the day of the release is known."""
        return re.fullmatch(r"\d{4}-\d{2}-\d{2}", self.date) is not None


def sections(changelog: str) -> list[Section]:
    """Every section, newest first as they are written: `## 0.1.0 - 2026-11-30`, brackets around the version or not."""
    found = list(_HEADING.finditer(changelog))
    ends = [each.start() for each in found[1:]] + [len(changelog)]
    return [
        Section(version=each["version"], date=each["date"] or "", text=changelog[each.end() : end].strip())
        for each, end in zip(found, ends, strict=True)
    ]


def section(changelog: str, version: str) -> Section | None:
    """What is said of one version; None where there is nothing."""
    return next((each for each in sections(changelog) if each.version == version and each.text), None)


def absolute(notes: str, base: str) -> str:
    """Notes whose relative links work elsewhere too: `docs/x.md` becomes `BASE/docs/x.md`."""
    return re.sub(r"(\]\()(?![a-z]+:|#|/)", lambda found: f"{found[1]}{base}/", notes)
