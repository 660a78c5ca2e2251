"""Tests assert reasons, fields and numbers; the words of messages are in tests/golden/messages alone."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *(f"tests/unit/{name}" for name in ("api", "catalog", "converging", "engines", "planning", "rendering")),
    *("tests/contracts", "tests/scenarios", "tests/cluster"),
)
AUTOSCALER = ("test_autoscaling", "test_scaling_report")
"""Tests of decisions, whose sentences are not in the golden list."""
RUN = 4
"""So many words in a row, the same as in a string of the product, are a sentence and no name."""

_WORD = re.compile(r"[a-z][a-z']*")


def runs(text: str) -> set[tuple[str, ...]]:
    """Each run of plain words: paths, flags and numbers end one."""
    words = [word.strip(".,:;()") for word in text.replace("\\", "").lower().split()]
    found = (tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1))
    return {run for run in found if all(map(_WORD.fullmatch, run))}


def strings(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node


@cache
def sentences() -> frozenset[tuple[str, ...]]:
    """The runs of words in strings of the product, docstrings left out."""
    found: set[tuple[str, ...]] = set()
    for file in (ROOT / "operator" / "llmservice").rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for constant in strings(tree):
            if id(constant) not in notes:
                found |= runs(str(constant.value))
    return frozenset(found)


def expectations(tree: ast.AST) -> Iterator[ast.AST]:
    """What a test asserts, and what it expects an error to match."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.keyword) and node.arg == "match":
            yield node.value


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_expectation_repeats_a_sentence(folder: str) -> None:
    repeated = [
        f"{file.relative_to(ROOT)}:{constant.lineno}: {constant.value}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        if not file.name.startswith(AUTOSCALER)
        for expectation in expectations(ast.parse(file.read_text("utf-8")))
        for constant in strings(expectation)
        if not runs(str(constant.value)).isdisjoint(sentences())
    ]
    assert repeated == []


def test_a_repeated_sentence_would_be_found() -> None:
    tree = ast.parse("assert 'Deployment chat: another client deletes it' in message")
    (text,) = (str(constant.value) for expectation in expectations(tree) for constant in strings(expectation))
    assert not runs(text).isdisjoint(sentences())
