"""The exception tree stands in one file, and its docstring draws all of it."""

import ast
import inspect
from pathlib import Path

import pytest

from llmservice import errors

PACKAGE = Path(errors.__file__).parent
TREE = {
    name
    for name, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.OperatorError) and kind.__module__ == errors.__name__
}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_other_file_adds_to_the_tree(path: Path) -> None:
    classes = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ClassDef)]
    added = [node.name for node in classes if TREE & {base.id for base in node.bases if isinstance(base, ast.Name)}]
    assert path.name == "errors.py" or added == []


def test_the_docstring_draws_every_error() -> None:
    drawn = {word for line in (errors.__doc__ or "").splitlines() for word in line.split() if word in TREE}
    assert drawn == TREE
