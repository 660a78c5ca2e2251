"""What stands in manifests/models: a file for each entry, and the table of all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

from llmservice.cli.documents import to_yaml
from llmservice.cli.planner_options import planner_from
from llmservice.models.sizes import GIB
from tools.gallery.choosing import Entry, choose
from tools.gallery.manifest import TOKEN
from tools.gallery.row import Table, read_table

_TEMPLATE = Path(__file__).with_name("readme.template")


def gallery(table: Table | None = None) -> Mapping[str, str]:
    """The content of each file of the folder, by its name; raises NothingFitsError."""
    table, planner = table or read_table(), planner_from(environment={})
    pairs = [choose(table, row, planner) for row in table.rows]
    files = {file_name(each): manifest_text(each) for pair in pairs for each in pair}
    return {**files, "README.md": readme(pairs)}


def file_name(entry: Entry) -> str:
    """As its resource is named."""
    return f"{entry.resource['metadata']['name']}.yaml"


def manifest_text(entry: Entry) -> str:
    """The resource, and before it what one wants to know of it."""
    row, page = entry.row, f"https://huggingface.co/{_repository(entry)}"
    each = " on each" if entry.rung.count > 1 else ""
    lines = [
        f"{row.name} on {entry.rung}: {_gib(entry)} GiB of weights{each}.",
        f"At once: {entry.at_once} requests of {row.context} tokens.",
        f"Licence: {row.licence}, {page}",
        *_token_needed(entry),
        "Written by `make gallery`.",
    ]
    return "".join(f"# {line}\n" for line in lines) + to_yaml([entry.resource])


def readme(pairs: Sequence[tuple[Entry, Entry]]) -> str:
    """The table, with a line for each file."""
    first = pairs[0][0]
    return Template(_TEMPLATE.read_text("utf-8")).substitute(
        models=len(pairs),
        example=file_name(first),
        repository=_repository(first),
        table="".join(_lines(pairs)),
        secret=TOKEN["name"],
        key=TOKEN["key"],
    )


def _lines(pairs: Iterable[tuple[Entry, Entry]]) -> Iterator[str]:
    for entry in (each for pair in pairs for each in pair):
        cells = (
            f"[{_repository(entry)}](https://huggingface.co/{_repository(entry)})",
            _asked_for(entry),
            f"[{entry.rung}]({file_name(entry)})",
            _gib(entry),
            str(entry.row.context),
            str(entry.at_once),
            entry.row.licence,
        )
        yield f"| {' | '.join(cells)} |\n"


def _asked_for(entry: Entry) -> str:
    return f"{entry.plan.task.value}{', pictures' if entry.row.sees else ''}"


def _gib(entry: Entry) -> str:
    room = entry.plan.fit.room if entry.plan.fit else None
    return f"{room.weights / GIB:.1f}" if room else "-"


def _repository(entry: Entry) -> str:
    return str(entry.resource["spec"]["model"]["uri"]).removeprefix("hf://")


def _token_needed(entry: Entry) -> Iterator[str]:
    if "tokenSecretRef" in entry.resource["spec"]["model"]:
        yield "It has to be accepted on that page first; then:"
        yield f"kubectl create secret generic {TOKEN['name']} --from-literal={TOKEN['key']}=hf_..."
