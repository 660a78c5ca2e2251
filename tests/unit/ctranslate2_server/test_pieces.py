from pathlib import Path

import pytest
from tokenizers import Tokenizer

from ctranslate2_server.pieces import Pieces

BYTES = 3
"""Where the tokens of single bytes begin in the tiny vocabulary."""


@pytest.fixture
def tokenizer(model: Path) -> Tokenizer:
    return Tokenizer.from_file(str(model / "tokenizer.json"))


def spoken(pieces: Pieces, ids: list[int]) -> list[str]:
    return [pieces.add(each) for each in ids]


def test_text_comes_token_by_token_and_is_whole(tokenizer: Tokenizer) -> None:
    pieces, ids = Pieces(tokenizer, ()), tokenizer.encode(" hello you", add_special_tokens=False).ids

    assert "".join([*spoken(pieces, ids), pieces.rest()]) == tokenizer.decode(ids)


def test_a_character_of_several_bytes_comes_in_one_piece(tokenizer: Tokenizer) -> None:
    pieces = Pieces(tokenizer, ())

    assert spoken(pieces, [BYTES + value for value in "€".encode()]) == ["", "", "€"]


def test_bytes_that_are_no_character_do_not_hold_up_the_rest(tokenizer: Tokenizer) -> None:
    pieces = Pieces(tokenizer, ())
    came = spoken(pieces, [BYTES + 0xFF] * 4 + tokenizer.encode("ab", add_special_tokens=False).ids)

    assert came[:3] == ["", "", ""]
    assert came[3]
    assert "".join(came).endswith("ab")


def test_an_unfinished_character_comes_at_the_end(tokenizer: Tokenizer) -> None:
    pieces = Pieces(tokenizer, ())

    assert spoken(pieces, [BYTES + 0xE2]) == [""]
    assert pieces.rest()


def test_the_text_ends_before_a_stop_string(tokenizer: Tokenizer) -> None:
    pieces = Pieces(tokenizer, ("yz", "c"))
    came = spoken(pieces, tokenizer.encode("aybczzz", add_special_tokens=False).ids)

    assert "".join(came) == "ayb"
    assert pieces.stopped
    assert pieces.rest() == ""


def test_the_beginning_of_a_stop_string_is_held_until_it_is_none(tokenizer: Tokenizer) -> None:
    pieces = Pieces(tokenizer, ("abc",))

    assert spoken(pieces, tokenizer.encode("ab", add_special_tokens=False).ids) == ["", ""]
    assert spoken(pieces, tokenizer.encode("d", add_special_tokens=False).ids) == ["abd"]
    assert not pieces.stopped


def test_what_was_held_comes_when_nothing_follows(tokenizer: Tokenizer) -> None:
    pieces = Pieces(tokenizer, ("abc",))
    spoken(pieces, tokenizer.encode("ab", add_special_tokens=False).ids)

    assert pieces.rest() == "ab"
