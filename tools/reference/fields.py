"""The page of every field, from the schema of the CRD."""

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_HEAD = """\
# The LLMService resource

Written from the types by `make docs`. `kubectl explain llmservice.spec` says the same. A field that is omitted is
decided once per generation; `status.plan.defaults` then says what was chosen and why.

Rules that a schema alone cannot say stand below each table; the API server refuses what breaks them, and
`llmservice render` does too.
"""


def fields_page(crd: Mapping[str, Any]) -> str:
    """The page as Markdown."""
    version = crd["spec"]["versions"][0]
    properties = version["schema"]["openAPIV3Schema"]["properties"]
    parts = [_HEAD, "## Metadata\n", *_rules(version["schema"]["openAPIV3Schema"])]
    for name in ("spec", "status"):
        parts += [f"\n## {name}\n", _table(properties[name], name)]
        parts += _rules_below(properties[name], name)
    return "\n".join(parts).rstrip() + "\n"


def _table(schema: Schema, path: str) -> str:
    rows = [f"| `{field}` | {_kind(part)} | {_text(part)} |" for field, part in _fields(schema, path)]
    return "\n".join(["| field | type | meaning |", "|---|---|---|", *rows])


def _fields(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    """Every field below a schema, depth first, in the order of the types."""
    for name, part in schema.get("properties", {}).items():
        below = f"{path}.{name}"
        items = part.get("items")
        yield (f"{below}[]" if items else below, part)
        yield from _fields(items or part, f"{below}[]" if items else below)


def _kind(part: Schema) -> str:
    if "enum" in part:
        return " \\| ".join(f"`{value}`" for value in part["enum"])
    kind = "quantity" if part.get("x-kubernetes-int-or-string") else str(part.get("type", "any"))
    if "items" in part:
        kind = f"list of {part['items'].get('type', 'any')}, at most {part.get('maxItems', '∞')}"
    bounds = [part.get("minimum"), part.get("maximum")]
    if any(bound is not None for bound in bounds):
        kind += f" {bounds[0]}-{bounds[1]}"
    if "maxLength" in part:
        kind += f", at most {part['maxLength']} characters"
    if "default" in part and not isinstance(part["default"], dict):
        kind += f"; default `{str(part['default']).lower()}`"
    return kind


def _text(part: Schema) -> str:
    return " ".join(str(part.get("description", "")).split()).replace("|", "\\|")


def _rules_below(schema: Schema, path: str) -> Iterator[str]:
    rules = [(path, rule) for rule in schema.get("x-kubernetes-validations", ())]
    for field, part in _fields(schema, path):
        for holder in (part, part.get("items", {})):
            rules += [(field, rule) for rule in holder.get("x-kubernetes-validations", ())]
    if rules:
        yield "\n### Rules\n"
    for field, rule in rules:
        yield f"- `{field}{rule.get('fieldPath', '')}` {rule['message']}"


def _rules(schema: Schema) -> Iterator[str]:
    for rule in schema.get("x-kubernetes-validations", ()):
        yield f"- `{rule.get('fieldPath', '').lstrip('.') or 'metadata'}` {rule['message']}"
