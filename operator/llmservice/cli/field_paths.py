"""Paths of fields as messages write them: spec.engineOptions.env[0].name, spec.pod.labels['a/b']."""

from collections.abc import Iterator

from llmservice.untrusted.patterns import compiled, finder

_PART = r"(\.?[A-Za-z_][A-Za-z0-9_]*|\[[0-9]{1,6}\]|\['[^'\n]*'\])"
_LINE = compiled(rf"(?s)(?P<field>[A-Za-z_][A-Za-z0-9_]*{_PART}*): (?P<message>.*)")
_PARTS = finder(r"\['(?P<key>[^'\n]*)'\]|\[(?P<index>[0-9]{1,6})\]|(?P<word>[A-Za-z_][A-Za-z0-9_]*)")
_LONGEST = 2000


def field_and_message(line: str) -> tuple[str, str]:
    """What stands before the first colon if it is a field, and the rest; the field is empty if it is none."""
    found = _LINE.whole(line)
    return (found["field"], found["message"]) if found else ("", line)


def parts_of(field: str) -> Iterator[str | int]:
    """Names and indices of a path, from the root."""
    for found in _PARTS.each(field[:_LONGEST]):
        yield int(found["index"]) if found["index"] else found["key"] or found["word"]
