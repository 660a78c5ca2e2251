"""Golden messages: the sentences that users read in conditions, Events and refusals, one file for each area.

All other tests assert the reason, the field and the numbers. The words are reviewed here, in the diff of
`make golden`, and nowhere else.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from llmservice.api.v1alpha1.conditions import ConditionType
from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.overlay import overlaid
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidCatalogue
from tests.golden.claims import sentences as sentences_of_claims
from tests.golden.downloads import sentences as sentences_of_downloads
from tests.golden.fits import sentences as sentences_of_fits
from tests.golden.inspections import sentences as sentences_of_inspections
from tests.golden.rollouts import sentences as sentences_of_rollouts
from tests.golden.routes import sentences as sentences_of_routes
from tests.golden.situations import CONDITIONS, DIAGNOSES, NOTED, UNPLANNABLE
from tests.golden.stalls import sentences as sentences_of_stalls
from tests.golden.starts import sentences as sentences_of_starts
from tests.golden.weights import sentences as sentences_of_weights
from tests.unit.api.cases import REFUSED, name_of, refusal
from tests.unit.catalog.broken import BROKEN_ACCELERATORS, BROKEN_ENGINES, BROKEN_MODELS

FOLDER = Path(__file__).parent / "messages"


def _api() -> Iterator[str]:
    """Each refused change, and what is said about it behind the name of the field."""
    return (f"{name_of(case)} → {refusal(case.changes).partition(': ')[2]}" for case in REFUSED)


def _planning() -> Iterator[str]:
    for case in UNPLANNABLE:
        error = case()
        yield f"{error.reason}: {error}"


def _notes() -> Iterator[str]:
    """What status.plan says of plans that are made."""
    for case in NOTED:
        yield from case().notes


def _engines() -> Iterator[str]:
    for name, engine in ENGINES.items():
        for pattern in engine.log_patterns:
            healing = ", self-healing" if pattern.self_healing else ""
            for remedy in filter(None, (pattern.remedy, pattern.remedy_in_numbers)):
                yield f"{name}, log: {pattern.reason}{healing}: {pattern.cause}: …; {remedy}"
        for way_out in {*engine.owned.flags.values(), *engine.owned.environment.values()}:
            yield f"{name}, owned: {way_out}"


def _catalogue() -> Iterator[str]:
    """Each overlay that is refused, and why."""
    tables = {"engines.yaml": BROKEN_ENGINES, "accelerators.yaml": BROKEN_ACCELERATORS, "models.yaml": BROKEN_MODELS}
    for name, table in tables.items():
        for text, _ in table:
            try:
                overlaid({name: text})
            except InvalidCatalogue as error:
                yield str(error)


def _substitutes() -> Iterator[str]:
    """What an engine does not export, and what the autoscaler uses instead."""
    for engine in load_catalogue().engines:
        row = load_catalogue().engine_version(engine, None)
        for role, sentence in ENGINES[engine].metric_names(row).substitutes.items():
            yield f"{engine}, {role}: {sentence}"


def _diagnoses() -> Iterator[str]:
    for found in DIAGNOSES:
        healing = ", self-healing" if found.self_healing else ""
        yield f"{found.reason}{healing}: {found.message}"


def _conditions() -> Iterator[str]:
    for item in CONDITIONS:  # Reconciling has the words of Ready
        if item.type != ConditionType.RECONCILING:
            yield f"{item.type}={item.status}, {item.reason}: {item.message}"


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "api": _api,
    "planning": _planning,
    "notes": _notes,
    "catalogue": _catalogue,
    "engines": _engines,
    "fit": lambda: iter(sentences_of_fits()),
    "downloads": sentences_of_downloads,
    "inspections": sentences_of_inspections,
    "claims": sentences_of_claims,
    "weights": sentences_of_weights,
    "rollouts": sentences_of_rollouts,
    "routes": sentences_of_routes,
    "substitutes": _substitutes,
    "diagnoses": _diagnoses,
    "conditions": _conditions,
    "starts": sentences_of_starts,
    "stalls": sentences_of_stalls,
}


def page_path(name: str) -> Path:
    """Where the sentences of an area are written down."""
    return FOLDER / f"{name}.txt"


def page(name: str) -> str:
    """The sentences of an area as they are today: sorted, each once, one a line."""
    return "".join(f"{line}\n" for line in sorted({" ⏎ ".join(text.split("\n")) for text in PAGES[name]()}))
