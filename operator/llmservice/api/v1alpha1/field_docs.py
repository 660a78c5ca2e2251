"""The texts below the fields of a type, for the schema.

Not pydantic's `use_attribute_docstrings`: it reads the source of every type whenever the module is imported, a tenth of
what a short command takes, and only the schema needs it.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise


def field_docs(model: type) -> dict[str, str]:
    """The text of each field that has one, inherited ones too."""
    docs: dict[str, str] = {}
    for each in reversed(model.__mro__):
        module = sys.modules[each.__module__]
        if module.__name__.partition(".")[0] not in {"builtins", "pydantic", "abc"}:
            docs |= _docs_in(module.__name__).get(each.__name__, {})
    return docs


@cache
def _docs_in(module: str) -> Mapping[str, Mapping[str, str]]:
    """By class and field."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {each.name: dict(_of_class(each)) for each in ast.walk(tree) if isinstance(each, ast.ClassDef)}


def _of_class(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in pairwise(node.body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        ):
            yield field.target.id, inspect.cleandoc(text.value.value)
