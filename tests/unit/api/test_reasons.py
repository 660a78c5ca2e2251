"""The closed list of reasons, and the pages made from it."""

import re

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.reasons import MEANINGS
from llmservice.engines.registry import ENGINES
from tools.reference.causes import causes_of, causes_page
from tools.reference.reasons import GROUPS, reasons_page


def test_every_reason_has_a_meaning_and_a_remedy() -> None:
    assert list(MEANINGS) == list(Reason)


def test_every_reason_is_one_word_in_camel_case() -> None:
    assert [reason for reason in Reason if not re.fullmatch("([A-Z]+[a-z]*)+", reason)] == []


def test_meanings_and_remedies_are_sentences() -> None:
    texts = [text for meaning in MEANINGS.values() for text in meaning]
    assert [text for text in texts if not re.fullmatch(r"[A-Z`].*\.", text) or "|" in text] == []


def test_the_page_has_one_section_for_each_in_groups() -> None:
    page = reasons_page(MEANINGS, ())
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == [str(reason) for reason in Reason]
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == list(GROUPS.values())


def test_a_reason_leads_to_its_causes_and_back() -> None:
    causes = causes_of(ENGINES)
    leading = re.findall(r"\(causes\.md#(\w+)\)", reasons_page(MEANINGS, causes))
    assert leading == [reason.lower() for reason in causes]
    assert re.findall(r"\(reasons\.md#(\w+)\)", causes_page(ENGINES)) == leading


def test_every_cause_of_an_engine_is_in_the_section_of_its_reason() -> None:
    page = causes_page(ENGINES)
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    for engine in ENGINES.values():
        for each in engine.log_patterns:
            assert f"| {each.cause} | {each.remedy_in_numbers or each.remedy} |" in sections[str(each.reason)]
