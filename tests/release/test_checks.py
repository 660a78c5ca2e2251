"""What keeps a release from being made."""

import pytest

from tools.release.changelog import Section
from tools.release.checks import Tree, is_semver, problems

NOTES = Section(version="0.2.0", date="2026-11-30", text="- News.")
UNDATED = Section(version="0.2.0", date="Unreleased", text="- News.")


def tree(*changed: str, version: str = "0.2.0", section: Section | None = NOTES) -> Tree:
    return Tree(version=version, changed=changed, section=section)


@pytest.mark.parametrize("version", ["0.1.0", "10.20.30", "1.0.0-rc.1", "1.0.0-alpha", "1.0.0-0a.b-c"])
def test_a_version_of_semver(version: str) -> None:
    assert is_semver(version)


@pytest.mark.parametrize(
    "version",
    ["", "1", "0.1", "v0.1.0", "0.01.0", "0.1.0+build", "0.1.0-", "0.1.0-a..b", "0.1.0\n", " 0.1.0", "0.1.0;ls"],
)
def test_no_version_of_semver_that_a_tag_could_be(version: str) -> None:
    assert not is_semver(version)
    assert len(problems(version, tree())) == 1


def test_a_clean_tree_of_the_version_with_its_notes_is_released() -> None:
    assert problems("0.2.0", tree()) == []
    assert problems("0.2.0", tree(), final=True) == []


def test_the_trees_own_version_is_named_and_how_to_change_it() -> None:
    (problem,) = problems("0.2.0", tree(version="0.1.0"))
    assert "0.1.0" in problem
    assert "make rename VERSION=0.2.0" in problem


def test_what_is_not_committed_is_named_and_counted() -> None:
    (problem,) = problems("0.2.0", tree(*(f"file-{number}" for number in range(12))))
    assert "file-4" in problem
    assert "file-5" not in problem
    assert "7 more" in problem


def test_notes_are_asked_for_and_in_a_final_release_the_day() -> None:
    (missing,) = problems("0.2.0", tree(section=None))
    assert "CHANGELOG.md" in missing
    assert problems("0.2.0", tree(section=UNDATED)) == []
    (undated,) = problems("0.2.0", tree(section=UNDATED), final=True)
    assert "YYYY-MM-DD" in undated


def test_every_problem_is_told_at_once() -> None:
    assert len(problems("0.3.0", tree("README.md", section=None))) == 3
