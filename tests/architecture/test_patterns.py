"""Backtracking patterns meet no stranger's text: who may use them, and why."""

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "operator/llmservice"
ALLOWED = {
    "settings/readers.py": "the operator's own environment, which its administrator writes",
    "catalog/recorded_flags.py": "the help texts of engines, recorded when a version is added",
    "api/v1alpha1/measures.py": "the schemas of our own API",
}
BACKTRACKING = re.compile(r"^\s*(?:import|from) (?:re|regex|fnmatch|glob)\b", re.MULTILINE)
RE2 = re.compile(r"^\s*(?:import|from) re2\b", re.MULTILINE)


def files_with(pattern: re.Pattern[str]) -> set[str]:
    every = PACKAGE.rglob("*.py")
    return {str(path.relative_to(PACKAGE)) for path in every if pattern.search(path.read_text())}


def test_backtracking_patterns_are_used_only_where_no_stranger_writes() -> None:
    assert files_with(BACKTRACKING) == ALLOWED.keys()


def test_all_other_patterns_are_made_in_one_place() -> None:
    assert files_with(RE2) == {"untrusted/patterns.py"}
