"""How much a YAML text may hold: aliases and merges count as often as they are used.

PyYAML shares what an alias stands for, so a text of a kilobyte may stand for billions of values: whoever walks them
never ends. One pass over the parser's events counts them before anything is made of them.
"""

from typing import Any

import yaml

from llmservice.catalog.yaml_values import ValuesLoader

MOST_VALUES = 500_000
"""Of one text. A resource with its status has some hundreds."""
MOST_DOCUMENTS = 10_000
DEEPEST = 100
"""Fields within fields. A CRD has some thirty."""


class TooMuch(yaml.MarkedYAMLError):
    """The text holds more than is ever read; `event` is where that is noticed, `line` its line from 1."""

    def __init__(self, problem: str, event: Any) -> None:
        super().__init__(problem=problem, problem_mark=event.start_mark)
        self.line: int = event.start_mark.line + 1


def check_bounds(text: str) -> None:
    """Raises yaml.YAMLError: TooMuch, or what is wrong with the text. Takes time in proportion to its length."""
    counted = _Counted()
    for event in yaml.parse(text, Loader=ValuesLoader):
        counted.take(event)


class _Counted:
    """The values so far, each collection that is still open, and the size of whatever has an anchor."""

    def __init__(self) -> None:
        self._open: list[tuple[str | None, int]] = []
        self._sizes: dict[str, int] = {}
        self._values = 0
        self._documents = 0

    def take(self, event: Any) -> None:
        """Count one event of the parser; raises TooMuch."""
        if isinstance(event, yaml.AliasEvent):
            self._add(self._size_of(event), event)
        elif isinstance(event, yaml.ScalarEvent):
            self._add(1, event)
            self._keep(event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._add(1, event)
            self._open.append((event.anchor, self._values - 1))
            if len(self._open) > DEEPEST:
                raise TooMuch(f"has fields more than {DEEPEST} deep: remove them", event)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = self._open.pop()
            self._keep(anchor, self._values - before)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._begin_document(event)

    def _begin_document(self, event: Any) -> None:
        self._documents += 1
        self._sizes.clear()
        if self._documents > MOST_DOCUMENTS:
            raise TooMuch(f"has more than {MOST_DOCUMENTS} documents: split it", event)

    def _size_of(self, event: Any) -> int:
        if any(anchor == event.anchor for anchor, _ in self._open):
            problem = f"*{event.anchor[:40]} stands within what it stands for: write the values instead"
            raise TooMuch(problem, event)
        return self._sizes.get(event.anchor, 1)  # the composer refuses one that is not there

    def _keep(self, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self._sizes[anchor] = size

    def _add(self, size: int, event: Any) -> None:
        self._values += size
        if self._values > MOST_VALUES:
            problem = f"has more than {MOST_VALUES} values, aliases written out: split it, or use fewer aliases"
            raise TooMuch(problem, event)
