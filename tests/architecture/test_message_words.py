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
RUN = 4
"""So many words in a row, the same as in a string of the product, are a sentence and no name."""

_WORD = re.compile(r"[a-z][a-z']*")


def runs(text: str) -> set[tuple[str, ...]]:
    """Each run of plain words: paths, flags and numbers end one."""
    words = [word.strip(".,:;()") for word in text.replace("\\", "").lower().split()]
    found = (tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1))
    return {run for run in found if all(map(_WORD.fullmatch, run))}


def strings(tree: ast.AST, but: frozenset[int] = frozenset()) -> Iterator[tuple[int, str]]:
    """Each string with its line, without the nodes of these ids."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in but:
            yield node.lineno, node.value


@cache
def sentences() -> frozenset[tuple[str, ...]]:
    """The runs of words in strings of the product, docstrings left out."""
    found: set[tuple[str, ...]] = set()
    for file in (ROOT / "operator" / "llmservice").rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        docstrings = frozenset(id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr))
        for _, text in strings(tree, docstrings):
            found |= runs(text)
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
        f"{file.relative_to(ROOT)}:{line}: {text}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for expectation in expectations(ast.parse(file.read_text("utf-8")))
        for line, text in strings(expectation)
        if not runs(text).isdisjoint(sentences())
    ]
    assert repeated == []


def test_a_repeated_sentence_would_be_found() -> None:
    tree = ast.parse("assert 'Deployment chat: another client deletes it' in message")
    (text,) = (text for expectation in expectations(tree) for _, text in strings(expectation))
    assert not runs(text).isdisjoint(sentences())
