"""On which devices a model is served: the first rungs of the ladder that the operator's own planner accepts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from llmservice.cli.answers import Answer, Planner, answer_text
from llmservice.cli.documents import to_yaml
from llmservice.cli.findings import Severity
from llmservice.planning.fit.verdict import Outcome
from llmservice.planning.service_plan import ServicePlan
from tools.gallery.manifest import manifest
from tools.gallery.row import Row, Rung, Table

_BIGGER = 2.0
"""How many times the room for requests the bigger devices have at least, where the ladder goes so far."""


class NothingFitsError(Exception):
    """No rung holds a model, or no later one is bigger."""


@dataclass(frozen=True)
class Entry:
    """A model on a rung, with what the planner says of it."""

    row: Row
    rung: Rung
    resource: dict[str, Any]
    answer: Answer

    @cached_property
    def plan(self) -> ServicePlan:
        """Of an entry that `holds`."""
        assert self.answer.plan is not None  # noqa: S101  (for the reader of types)
        return self.answer.plan

    @property
    def room(self) -> float:
        """Requests of full length in the KV cache; infinite for encoders, which keep none, where there is space."""
        fit = self.answer.plan.fit if self.answer.plan else None
        if fit is None or fit.room is None:
            return 0.0
        if fit.room.request:
            return fit.full_length_requests if fit.outcome is Outcome.FITS else 0.0
        return math.inf if fit.room.careful > fit.room.weights else 0.0

    @property
    def at_once(self) -> int:
        """Requests of full length that are served at once; the others wait."""
        return int(min(self.room, self.plan.max_num_seqs))

    def holds(self, requests: float) -> bool:
        """Whether there is room for so many requests by the careful estimate, and nothing is to be warned of."""
        return self.room >= requests and all(each.severity is Severity.NOTE for each in self.answer.findings)


def choose(table: Table, row: Row, planner: Planner) -> tuple[Entry, Entry]:
    """The model on its smallest rung, and on a bigger one; raises NothingFitsError naming the row."""
    rungs = table.ladder
    small = _first([entry(table, row, rung, planner, large=False) for rung in rungs], row, table.requests)
    later = rungs[rungs.index(small.rung) + 1 :]
    larger = [entry(table, row, rung, planner, large=True) for rung in later]
    most = max((each.room for each in larger if each.holds(table.requests)), default=0.0)
    return small, _first(larger, row, min(_BIGGER * small.room, most))


def entry(table: Table, row: Row, rung: Rung, planner: Planner, *, large: bool) -> Entry:
    """What the planner says of a model on a rung."""
    resource = manifest(table.engine, row, rung, large=large)
    (answer,) = answer_text(row.name, to_yaml([resource]), planner).answers
    return Entry(row, rung, resource, answer)


def _first(tried: Sequence[Entry], row: Row, requests: float) -> Entry:
    found = next((each for each in tried if each.room and each.holds(requests)), None)
    if found is None:
        why = [finding.message for finding in tried[-1].answer.findings] if tried else ["the ladder ends"]
        raise NothingFitsError(f"{row.name}: no room for {requests:g} requests: {'; '.join(why)}")
    return found
