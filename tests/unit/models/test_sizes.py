import pytest

from llmservice.models.sizes import in_gb, of_in_gb


@pytest.mark.parametrize(
    ("size", "text"), [(141_107_412_992, "141.1 GB"), (100_000_000, "0.1 GB"), (12_000_000, "12 MB"), (0, "0 MB")]
)
def test_sizes_have_the_unit_that_shows_them(size: int, text: str) -> None:
    assert in_gb(size) == text


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [
        (61_200_000_000, 141_100_000_000, "61.2 of 141.1 GB (43 %)"),
        (40_000_000, 141_100_000_000, "0.0 of 141.1 GB (0 %)"),
        (4_000_000, 12_000_000, "4 of 12 MB (33 %)"),
        (3, 2, "0 of 0 MB (100 %)"),
        (5, 0, "0 of 0 MB (0 %)"),
    ],
)
def test_a_part_and_its_total_have_one_unit(done: int, total: int, text: str) -> None:
    assert of_in_gb(done, total) == text
