"""The means of these tests do what they say: what is generated comes out the same again, and what is wrong is found."""

import json
from pathlib import Path

from tests.hostile import results
from tests.hostile.generated import generated
from tests.hostile.kubelet import tail
from tests.hostile.neighbourhood import problems_in
from tests.hostile.plays import log_named, words_named
from tests.hostile.results import Row

ROW = Row(
    attack="a tenant sings",
    waits=3,
    longest_wait=1.25,
    longest_probe=0.5,
    rss_mib=99.6,
    descriptors=30,
    threads=7,
    longest_call=0.04,
)


def test_the_same_seed_makes_the_same_resources_logs_and_words() -> None:
    def made(seed: str) -> list[object]:
        return [
            (generated(seed, number), log_named(f"generated-{number}", seed), words_named(f"generated-{number}", seed))
            for number in range(4)
        ]

    assert made("7") == made("7")
    assert made("7") != made("8")


def test_generated_resources_can_be_sent() -> None:
    for number in range(40):
        assert "\\u0000" not in json.dumps(generated("7", number))
        assert json.dumps(generated("7", number), ensure_ascii=False).encode()


def test_a_defect_in_the_log_is_found_and_so_is_a_line_that_is_no_json() -> None:
    lines = [
        {"level": "info", "msg": "Deployment team/chat: created"},
        {"level": "error", "msg": "team/chat: defect in the operator", "error": "Traceback (most recent call last)"},
        {"level": "warning", "msg": "team/chat: an engine said Traceback"},
    ]
    log = b"\n".join(json.dumps(line).encode() for line in lines) + b"\nTraceback (most recent call last):\n"
    told = [*problems_in(log)]
    assert [problem.partition(":")[0] for problem in told] == ["a defect", "not a line of JSON"]


def test_a_log_is_cut_as_a_kubelet_cuts_it() -> None:
    """The last lines, and of these the beginning."""
    assert tail(b"1\n22\n333\n", {"tailLines": "2", "limitBytes": "4"}) == b"22\n3"
    assert tail(b"1\n22\n", {}) == b"1\n22\n"


def test_the_table_stands_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- hostile tenants -->\nold\n<!-- end of hostile tenants -->\nafter\n")
    results.write([ROW], page)
    first, *_, row, _, last = page.read_text().splitlines()
    assert (first, last) == ("before", "after")
    assert row == "| a tenant sings | 1.2 (3) | 0.50 | 100 | 30 | 7 | 0.0 |"
