"""The page of what engines measure: the recorded series, and the engines' own names behind each."""

from collections.abc import Iterator

from tools.dashboard.engine_rules import FIGURES, Figure, part_of
from tools.dashboard.measured import PROXIED, series_of, sources, stand_ins, unmeasured_by

_HEAD = """\
# What engines measure

Written from the catalogue by `make docs`. Engines name their figures differently, and differently in each version. The
recording rules that come with the [boards](../how-to/dashboards.md) give them one name each: a query asks
`llmservice:requests_running`, whichever engine serves. Every series has the labels `namespace`, `name` and `engine`,
those by replica `pod` too. Where an engine has several names in its versions, the first that a replica has counts.
"""


def engine_metrics_page() -> str:
    """The page as Markdown."""
    sections = ("\n".join(_section(figure)) for figure in FIGURES)
    return _HEAD + "".join(f"\n{section}\n" for section in sections)


def _section(figure: Figure) -> Iterator[str]:
    names = [part_of(figure.record, part) for part in figure.parts] if figure.kind == "histogram" else [figure.record]
    yield f"## {figure.meaning[0].upper()}{figure.meaning[1:]}\n"
    yield f"{', '.join(f'`{name}`' for name in names)}\n"
    yield "| engine | its own name |"
    yield "|---|---|"
    for engine, source in sources().items():
        if series := series_of(source, figure.role):
            shown = "behind a proxy" if engine == PROXIED else engine
            yield f"| {shown} | {', else '.join(f'`{_cell(name)}`' for name in series)} |"
    if without := list(unmeasured_by(figure.role)):
        yield f"\nNot measured by: {'; '.join(without)}."
    for number, (engine, sentence) in enumerate(stand_ins(figure.role).items()):
        yield f"{'' if number else chr(10)}- {engine}: {sentence}."


def _cell(name: str) -> str:
    return name.replace("|", "\\|")
