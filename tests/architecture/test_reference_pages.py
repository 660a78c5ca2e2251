"""Pages made from code are as the code is now."""

import pytest

from tools.reference.__main__ import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_page_made_from_code_is_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == PAGES[name](), "run `make docs`"
