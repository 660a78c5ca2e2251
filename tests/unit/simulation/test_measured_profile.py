"""A profile from a file: what is wrong with it is said in a line that names the field."""

from pathlib import Path

import pytest

from llmservice.errors import InvalidInput
from llmservice.simulation.measured_profile import read_profile

GOOD = "{name: a, description: b, step_milliseconds: [[1, 2]], max_sequences: 2}"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (GOOD.replace("max_sequences: 2", "max_sequences: many"), "max_sequences: 'many'"),
        (GOOD.replace("max_sequences: 2", "devices: []"), "devices: []"),
        (GOOD.replace(", max_sequences: 2", ""), "max_sequences"),
        ("kind: LLMService\n---\nkind: LLMService\n", "line 2"),
        ("- 1", "--save"),
    ],
)
def test_a_file_that_is_no_profile_is_refused_in_one_line(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        read_profile(file)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "int()" not in str(refused.value)


def test_a_good_one_is_read(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(GOOD, encoding="utf-8")
    assert read_profile(file).max_sequences == 2
