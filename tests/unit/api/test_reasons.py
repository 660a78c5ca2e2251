"""The closed list of reasons, and the page made from it."""

import re

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.reasons import MEANINGS, reasons_page


def test_every_reason_has_a_meaning_and_a_remedy() -> None:
    assert list(MEANINGS) == list(Reason)


def test_every_reason_is_one_word_in_camel_case() -> None:
    assert [reason for reason in Reason if not re.fullmatch("([A-Z]+[a-z]*)+", reason)] == []


def test_meanings_and_remedies_are_sentences() -> None:
    texts = [text for meaning in MEANINGS.values() for text in meaning]
    assert [text for text in texts if not re.fullmatch(r"[A-Z`].*\.", text) or "|" in text] == []


def test_the_page_has_one_row_for_each() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", reasons_page(), re.MULTILINE)
    assert rows == [str(reason) for reason in Reason]
