"""The catalogue a command works with: the shipped one, or with the rows of a file's ConfigMap."""

from collections.abc import Mapping

import click

from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.overlay import overlaid
from llmservice.cli.findings import Finding
from llmservice.cli.reading import read_file, shown_name
from llmservice.errors import InvalidCatalogue, UsageError

_OPTION = "--catalogue"

catalogue_option = click.option(
    _OPTION,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="File with the ConfigMap of the cluster's own rows.",
)
"""`catalogue: str | None` for `catalogue_with`."""


def catalogue_with(file: str | None) -> Catalogue:
    """The shipped catalogue, with the rows of a ConfigMap in a file; raises UsageError naming file and row."""
    if file is None:
        return load_catalogue()
    documents = read_file(file)
    if isinstance(documents, Finding):
        raise UsageError(documents.rule, f"{documents.file}:{documents.line}: {documents.message}", field=_OPTION)
    bodies = [document.value for document in documents if isinstance(document.value, Mapping)]
    maps = [body for body in bodies if body.get("kind") == "ConfigMap"]
    if len(maps) != 1:
        raise _refused(file, f"has {len(maps)} ConfigMaps; give a file with exactly one")
    try:
        return overlaid(maps[0].get("data") or {})
    except InvalidCatalogue as error:
        raise _refused(file, str(error)) from error


def _refused(file: str, message: str) -> UsageError:
    return UsageError("InvalidCatalogue", f"{shown_name(file)}: {message}", field=_OPTION)
