"""Any text can be kept, logged and shown afterwards."""

import orjson
import pytest

from llmservice.untrusted.texts import cut, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("häuser 😀\n\ttab", "häuser 😀\n\ttab"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("10%\r20%", "10% 20%"),
        ("a\u202eb\u200bc\x00", "a\\u202eb\\u200bc\\x00"),
        ("http://\udcff\ud800/", "http://\\udcff\\ud800/"),
        (b"caf\xc3\xa9 \xff", "café \\xff"),
    ],
)
def test_what_steers_hides_or_cannot_be_encoded_is_written_out(text: str | bytes, shown: str) -> None:
    assert printable(text) == shown
    assert orjson.loads(orjson.dumps(printable(text))) == shown


def test_what_is_cut_off_is_counted() -> None:
    assert (cut("abc", 3), cut("abcdef", 4)) == ("abc", "abcd… (2 more characters)")
