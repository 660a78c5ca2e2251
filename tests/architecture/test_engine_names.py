"""Engines are asked, accelerators are looked up: neither is named in code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.engines.registry import ENGINES

PACKAGE = Path(__file__).parents[2] / "operator" / "llmservice"
OUTSIDE_ENGINES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent.name not in ENGINES]
FOLDERS = {path.parent.name for path in (PACKAGE / "engines").glob("*/engine.py")}
CATALOGUE = load_catalogue()


def constants(path: Path) -> Iterator[tuple[str, int]]:
    """The string constants of a file with their lines; texts that stand alone (docstrings) are left out."""
    tree = ast.parse(path.read_text("utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value, node.lineno


def modules_imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@pytest.mark.parametrize("path", OUTSIDE_ENGINES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_engine_is_named_outside_its_folder(path: Path) -> None:
    named = [f"line {line}: {text}" for text, line in constants(path) if text.casefold() in ENGINES]
    assert named == []


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_accelerator_is_named_in_code(path: Path) -> None:
    names = {*CATALOGUE.accelerators, *CATALOGUE.ambiguous}
    assert [f"line {line}: {text}" for text, line in constants(path) if text in names] == []


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_vendor_is_named_in_code(path: Path) -> None:
    vendors = {row.vendor for row in CATALOGUE.accelerators.values()}
    resources = {row.resource_name for row in CATALOGUE.accelerators.values()}
    assert [f"line {line}: {text}" for text, line in constants(path) if text in vendors | resources] == []


def test_every_folder_is_an_engine_that_is_only_known_by_its_name() -> None:
    engines = {f"llmservice.engines.{name}.engine" for name in FOLDERS}
    importers = [path for path in PACKAGE.rglob("*.py") if engines & set(modules_imported(path))]
    assert len(engines) == len(ENGINES)
    assert importers == []


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "engines").glob("*/*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_no_engine_imports_another(path: Path) -> None:
    others = {f"llmservice.engines.{name}" for name in FOLDERS - {path.parent.name}}
    known = [name for name in modules_imported(path) if ".".join(name.split(".")[:3]) in others]
    assert known == []
