import orjson
import pytest

from llmservice.cluster.transport.json_as_yaml import as_yaml


@pytest.mark.parametrize("text", ["plain", "\x7f", "a\x80b\x9f", "\x85", "\u2028\u2029", "\ufeff\ufffe", "ü😀\\u0041"])
def test_the_value_stays_the_same(text: str) -> None:
    assert orjson.loads(as_yaml(orjson.dumps({"text": text}))) == {"text": text}


@pytest.mark.parametrize("text", ["\x7f", "\x80", "\x85", "\x9f", "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff"])
def test_what_yaml_reads_otherwise_is_escaped(text: str) -> None:
    assert as_yaml(orjson.dumps(f"ü{text}")).decode() == f'"ü\\u{ord(text):04x}"'


def test_ordinary_letters_of_the_world_are_sent_as_they_are() -> None:
    written = orjson.dumps("Grüße, 世界 😀")
    assert as_yaml(written) == written
