"""Every golden case renders to exactly what is written down; `make golden` writes it anew."""

import pytest

from tests.golden.cases import CASES, Case
from tests.golden.sentences import PAGES, page, page_path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.folder.name)
def test_a_case_renders_to_what_is_written_down(case: Case) -> None:
    assert case.render() == case.manifests.read_text("utf-8")


def test_there_are_cases() -> None:
    assert len(CASES) >= 6


@pytest.mark.parametrize("area", PAGES)
def test_messages_are_what_is_written_down(area: str) -> None:
    """`make golden` writes them anew: read the diff as a user would."""
    assert page(area).splitlines() == page_path(area).read_text("utf-8").splitlines()
