"""The table beside trusted operators names tests that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "trusted-operators.md").read_text("utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]
HEAD, *BODY = ROWS


def test_every_row_has_every_column() -> None:
    assert [row[0] for row in BODY if len(row) != len(HEAD)] == []
    assert len(BODY) == 27


@pytest.mark.parametrize("row", BODY, ids=lambda row: row[0])
def test_a_row_names_tests_that_are_there(row: list[str]) -> None:
    *_, ours, proof = row
    files = re.findall(r"`(tests/[\w/]+\.py)`", proof)
    assert files
    assert not ours.startswith("–")
    assert [file for file in files if "\ndef test_" not in (ROOT / file).read_text("utf-8")] == []
