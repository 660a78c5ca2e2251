"""The catalogue a command works with: the shipped one, or with the rows of a file's ConfigMap."""

from collections.abc import Mapping
from typing import TextIO

import click
import yaml

from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.overlay import overlaid
from llmservice.cli.documents import documents_in
from llmservice.errors import InvalidCatalogue


def catalogue_with(overlay: TextIO | None) -> Catalogue:
    """The shipped catalogue, with the rows of an overlay's ConfigMap; raises click.ClickException."""
    if overlay is None:
        return load_catalogue()
    try:
        bodies = [body for _, body in documents_in(overlay.read()) if isinstance(body, Mapping)]
        maps = [body for body in bodies if body.get("kind") == "ConfigMap"]
        if len(maps) != 1:
            raise click.ClickException(f"{overlay.name}: has {len(maps)} ConfigMaps; give a file with exactly one")
        return overlaid(maps[0].get("data") or {})
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{overlay.name}: is not UTF-8: {error}; save the file as UTF-8") from error
    except (InvalidCatalogue, yaml.YAMLError) as error:
        raise click.ClickException(f"{overlay.name}: {error}") from error
