"""YAML as Kubernetes reads it: dates stay strings, and every error has its line and column."""

from typing import Any

import yaml

_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


class ValuesLoader(_BASE):  # type: ignore[misc]
    """For `yaml.load` and `yaml.load_all`; raises only yaml.YAMLError, whatever the text."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002  (PyYAML's signature)
        """The value of a node; PyYAML lets through what int(), float() and others raise for a scalar like `!!int x`."""
        try:
            return super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        except Exception as error:
            kind = node.tag.rpartition(":")[2]
            problem = f"{str(node.value)[:40]!r} is not of type {kind}: correct it, or put it in quotes"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error


ValuesLoader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in resolvers if tag != _TIMESTAMP]
    for first, resolvers in _BASE.yaml_implicit_resolvers.items()
}
