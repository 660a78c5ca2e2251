"""How `llmservice diff` prints: a sentence or two for each service, then a unified diff of each child."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any

import click
import yaml

from llmservice.cli.diff_cluster import Child, Comparison
from llmservice.untrusted.texts import printable

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def as_text(found: Sequence[Comparison]) -> str:
    """Every service, with an empty line between two."""
    return "\n".join("".join(f"{line}\n" for line in _lines(each)) for each in found)


def as_objects(found: Iterable[Comparison]) -> list[dict[str, Any]]:
    """The same for programs; `before` and `after` of each child that differs."""
    return [
        {
            "namespace": each.namespace,
            "name": each.name,
            "differs": each.differs,
            "isNew": each.is_new,
            "restarts": each.words.restarts,
            "strategy": each.words.strategy,
            "message": list(each.words.sentences),
            "children": [
                {"kind": child.ref.kind, "name": child.ref.name, "before": child.before, "after": child.after}
                for child in each.children
                if child.differs
            ],
        }
        for each in found
    ]


def _lines(each: Comparison) -> Iterator[str]:
    name = f"{each.namespace}/{each.name}"
    if not each.differs:
        yield f"{name}: nothing would change"
        return
    yield f"{name}: {'; '.join(map(printable, each.words.sentences))}"
    for child in each.children:
        if child.differs:
            yield from _diff(child)


def _diff(child: Child) -> Iterator[str]:
    before, after = _yaml(child.before), _yaml(child.after)
    path = f"{child.ref.kind}/{child.ref.namespace}/{child.ref.name}"
    was, becomes = "cluster" if child.before else "none", "applied" if child.after else "none"
    for line in unified_diff(before, after, f"{path} ({was})", f"{path} ({becomes})", lineterm=""):
        yield click.style(printable(line), fg=_COLOURS.get(line[0]))


def _yaml(manifest: Mapping[str, Any] | None) -> list[str]:
    """Keys in one order, lists one element a line: what is not written by the same hand can be compared."""
    if manifest is None:
        return []
    text: str = yaml.dump(manifest, Dumper=_DUMPER, sort_keys=True, width=1000, allow_unicode=True)
    return text.splitlines()
