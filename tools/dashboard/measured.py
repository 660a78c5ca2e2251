"""What the engines measure, by the names in the catalogue: what rules record and what boards can show of each."""

from collections.abc import Iterator, Mapping
from functools import cache

from llmservice.catalog.loader import load_catalogue
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.proxied import PROXY_METRIC_NAMES
from llmservice.engines.registry import ENGINES

PROXIED = "proxied"
"""In place of the engine's name, of all engines that measure nothing and have a proxy before them that does."""

Source = Mapping[str, MetricNames]
"""Version → the names of its metrics, the newest version first."""


@cache
def sources() -> Mapping[str, Source]:
    """The versions of every engine by its name; those behind a proxy are one."""
    rows = load_catalogue().engines
    own = {
        name: {version: engine.metric_names(row) for version, row in reversed([*rows[name].versions.items()])}
        for name, engine in ENGINES.items()
        if not engine.capabilities.proxied
    }
    return {**own, PROXIED: {"": PROXY_METRIC_NAMES}}


def series_of(source: Source, role: str) -> tuple[str, ...]:
    """The series of a role in all versions, the newest first; of several in one page the first counts."""
    return tuple(dict.fromkeys(name for names in source.values() for name in names.names(role)))


def unmeasured_by(role: str) -> Iterator[str]:
    """Engines that do not measure a role, those behind a proxy by their own names, with the versions where not all."""
    behind = sorted(name for name, engine in ENGINES.items() if engine.capabilities.proxied)
    for name, source in sources().items():
        without = [version for version, names in source.items() if not names.names(role)]
        if len(without) == len(source):
            yield from behind if name == PROXIED else (name,)
        elif without:
            yield f"{name} {', '.join(reversed(without))}"


def stand_ins(role: str) -> Mapping[str, str]:
    """Engine → what its newest version reports in place of the role."""
    newest = {name: next(iter(source.values())) for name, source in sources().items()}
    return {
        "behind a proxy" if name == PROXIED else name: names.substitutes[role]
        for name, names in newest.items()
        if names.names(role) and role in names.substitutes
    }
