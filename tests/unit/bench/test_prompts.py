"""Prompts: their length in the server's tokens, and that no two are alike."""

import pytest

from llmservice.bench.prompts import Calibration, calibrated, prompt


def test_words_follow_from_the_servers_own_count() -> None:
    letters = calibrated((8, 50), (72, 370))
    assert (letters.fixed, letters.per_word) == (10.0, 5.0)
    assert letters.words(110) == 20


def test_no_prompt_is_so_short_that_another_would_be_the_same() -> None:
    words = Calibration(fixed=30.0, per_word=1.0).words(10)
    assert len({prompt(number, words) for number in range(50_000)}) == 50_000


def test_a_server_that_counts_every_prompt_alike_is_not_divided_by() -> None:
    assert calibrated((8, 50), (72, 50)).words(100) < 1000


@pytest.mark.parametrize("words", [8, 100, 5000])
def test_a_prompt_has_so_many_words(words: int) -> None:
    assert len(prompt(7, words).split()) == words


def test_no_two_prompts_begin_alike() -> None:
    assert len({prompt(number, 8) for number in range(20_000)}) == 20_000
    beginnings = {prompt(number, 2) for number in range(100)}
    assert len(beginnings) > 90


def test_another_salt_makes_other_prompts() -> None:
    assert not {prompt(number, 8) for number in range(1000)} & {
        prompt(number, 8, salt=99_991) for number in range(1000)
    }
