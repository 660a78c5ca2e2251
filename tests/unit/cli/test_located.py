"""Files from anybody: every field has its line, and nothing in them takes long or much."""

from pathlib import Path

import pytest
import yaml

from llmservice.cli import bounds, reading
from llmservice.cli.documents import documents_in
from llmservice.cli.field_paths import field_and_message, parts_of
from llmservice.cli.findings import Finding
from llmservice.cli.located import located_documents
from llmservice.cli.reading import documents_of, read_file

TEXT = """\
# a comment
kind: One
spec:
  gpu: {type: L4,
        count: 2}
  labels:
    a/b: c
  env:
    - name: A
    - {name: B}
---
---
kind: List
items:
  - kind: Two
  - {kind: Three}
"""


def place(document: int, field: str) -> tuple[int, int]:
    return list(located_documents(TEXT))[document].place(field)


@pytest.mark.parametrize(
    ("document", "field", "expected"),
    [
        (0, "", (2, 1)),
        (0, "kind", (2, 1)),
        (0, "spec", (3, 1)),
        (0, "spec.gpu.count", (5, 9)),
        (0, "spec.labels['a/b']", (7, 5)),
        (0, "spec.env[1].name", (10, 8)),
        (0, "spec.env[1].value", (10, 7)),
        (0, "spec.env[7]", (8, 3)),
        (0, "spec.missing.far", (3, 1)),
        (1, "kind", (15, 5)),
        (2, "", (16, 5)),
    ],
)
def test_a_field_has_its_place_or_that_of_the_nearest(document: int, field: str, expected: tuple[int, int]) -> None:
    assert place(document, field) == expected


def test_empty_documents_count_and_items_have_the_number_of_their_list() -> None:
    assert [(number, value["kind"]) for number, value in documents_in(TEXT)] == [(1, "One"), (3, "Two"), (3, "Three")]


def test_the_last_of_two_fields_wins_in_value_and_place() -> None:
    (document,) = located_documents("a: 1\nb: 2\na: 3\n")
    assert (document.value["a"], document.place("a")) == (3, (3, 1))


def test_merged_fields_have_the_place_where_they_are_written() -> None:
    (document,) = located_documents("base: &b\n  x: 1\nspec:\n  <<: *b\n  y: 2\n")
    assert (document.value["spec"]["x"], document.place("spec.x"), document.place("spec.y")) == (1, (2, 3), (5, 3))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("spec.gpu.type: L4 is", ("spec.gpu.type", "L4 is")),
        ("spec.env[0].name: a: b", ("spec.env[0].name", "a: b")),
        ("spec.pod.labels['a: b/c']: no", ("spec.pod.labels['a: b/c']", "no")),
        ("Nothing of this: is", ("", "Nothing of this: is")),
        ("spec", ("", "spec")),
        ("spec.a b: c", ("", "spec.a b: c")),
    ],
)
def test_what_stands_before_the_first_colon_is_a_field_or_part_of_the_sentence(
    line: str, expected: tuple[str, str]
) -> None:
    assert field_and_message(line) == expected


def test_a_path_has_names_and_indices() -> None:
    assert list(parts_of("spec.env[12].labels['a/b'].x")) == ["spec", "env", 12, "labels", "a/b", "x"]


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


def merge_bomb(levels: int) -> str:
    lines = ["a0: &a0 {x: 1, y: 2}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        bomb(12),
        merge_bomb(12),
        "&a [*a]",
        "a: &a {b: {c: *a}}",
        "[" * 200,
        "{a: " * 101 + "1" + "}" * 101,
        "- a: 1\n" * 200_000,
        "---\na\n" * 10_001,
    ],
    ids=["aliases", "merges", "itself", "within itself", "open", "deep", "long", "documents"],
)
def test_what_stands_for_too_much_is_refused_with_its_line(text: str) -> None:
    found = documents_of("x", text)
    assert isinstance(found, Finding)
    assert (found.rule, found.severity) == ("TooLarge", "error")
    assert found.line <= text.count("\n") + 1


def test_an_alias_used_twice_is_no_bomb() -> None:
    (document,) = located_documents("a: &a {b: 1}\nc: [*a, *a]\n")
    assert document.value["c"] == [{"b": 1}, {"b": 1}]


def test_an_anchor_ends_with_its_document() -> None:
    with pytest.raises(yaml.YAMLError):
        list(located_documents("a: &a 1\n---\nb: *a\n"))


def test_a_large_file_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 100)
    (tmp_path / "large.yaml").write_text("a: 1 # " + "x" * 1000)
    found = read_file(str(tmp_path / "large.yaml"))
    assert isinstance(found, Finding)
    assert found.rule == "TooLarge"


def test_a_byte_order_mark_is_no_letter(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    documents = read_file(str(tmp_path / "a.yaml"))
    assert not isinstance(documents, Finding)
    assert documents[0].value == {"a": 1}


def test_what_is_not_utf_8_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: 1\nb: \xff\n")
    found = read_file(str(tmp_path / "a.yaml"))
    assert isinstance(found, Finding)
    assert (found.rule, found.line) == ("NotUtf8", 2)


def test_a_resource_is_far_from_every_bound() -> None:
    assert bounds.MOST_VALUES >= 1000 * 500
    assert bounds.DEEPEST >= 3 * 30
