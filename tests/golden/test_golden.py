"""Every golden case renders to exactly what is written down; `make golden` writes it anew."""

import pytest

from tests.golden.cases import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.folder.name)
def test_a_case_renders_to_what_is_written_down(case: Case) -> None:
    assert case.render() == case.manifests.read_text("utf-8")


def test_there_are_cases() -> None:
    assert len(CASES) >= 6
