"""Release notes: what the changelog says of one version."""

from tools.release.changelog import absolute, section, sections
from tools.release.names import ROOT

CHANGELOG = """\
# Changelog

Some words.

## Unreleased

### Added

- Tomorrow's.

## [0.2.0] - 2026-11-30

- See [the page](docs/how-to/x.md#y), [abroad](https://example.org/a) and [below](#fixed).

## 0.1.0 - Unreleased

## 0.0.1
- The first.
"""


def test_every_section_has_its_version_and_its_day() -> None:
    found = [(each.version, each.date, each.is_dated) for each in sections(CHANGELOG)]
    assert found == [
        ("Unreleased", "", False),
        ("0.2.0", "2026-11-30", True),
        ("0.1.0", "Unreleased", False),
        ("0.0.1", "", False),
    ]


def test_the_notes_of_a_version_end_where_the_next_begins() -> None:
    first, later = section(CHANGELOG, "0.0.1"), section(CHANGELOG, "Unreleased")
    assert first is not None
    assert first.text == "- The first."
    assert later is not None
    assert later.text == "### Added\n\n- Tomorrow's."


def test_a_version_of_which_nothing_is_said_has_no_notes() -> None:
    assert section(CHANGELOG, "0.1.0") is None
    assert section(CHANGELOG, "0.3.0") is None


def test_links_into_the_repository_work_elsewhere_too() -> None:
    found = section(CHANGELOG, "0.2.0")
    assert found is not None
    assert absolute(found.text, "https://git.example/a/b/blob/v0.2.0") == (
        "- See [the page](https://git.example/a/b/blob/v0.2.0/docs/how-to/x.md#y), "
        "[abroad](https://example.org/a) and [below](#fixed)."
    )


def test_no_link_of_the_real_changelog_goes_nowhere() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    linked = absolute(text, "BASE").split("](BASE/")[1:]
    files = {each.partition(")")[0].partition("#")[0] for each in linked}
    assert files
    assert [name for name in sorted(files) if not (ROOT / name).exists()] == []
