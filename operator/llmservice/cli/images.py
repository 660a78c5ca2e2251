"""`llmservice images`: every image a cluster needs, for air-gapped registries."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from llmservice.catalog.catalogue import Catalogue
from llmservice.cli.catalogue_file import catalogue_option, catalogue_with
from llmservice.cli.documents import to_yaml
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.planner_options import settings_of
from llmservice.engines.registry import ENGINES
from llmservice.planning.images import mirrored
from llmservice.settings import mirrors_in

_PROXY = "proxy"
"""Instead of an engine's name: the proxy before engines, which has neither versions nor variants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineImage:
    """One image of the catalogue: the reference in pods (`image`), and where it is published (`source`)."""

    engine: str
    version: str
    variant: str
    default: bool
    image: str
    source: str


@click.command(name="images")
@click.option(
    "--engine",
    "engines",
    multiple=True,
    type=click.Choice([*sorted(ENGINES), _PROXY]),
    help="Only this engine, or the proxy before engines.",
)
@click.option("--variant", "variants", multiple=True, metavar="NAME", help="Only this variant: cuda, rocm, cpu, …")
@click.option("--default-versions", is_flag=True, help="Only what resources without engineOptions.version use.")
@click.option(
    "--mirror",
    "mirrors",
    multiple=True,
    metavar="PREFIX=PREFIX",
    help="Replaces LLMSERVICE_IMAGE_MIRRORS; repeatable.",
)
@click.option(
    "--settings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with the operator's settings, a line NAME=VALUE each: its mirrors.",
)
@catalogue_option
@click.option("--output", "-o", type=click.Choice(["text", "yaml", "json"]), default="text", show_default=True)
def command(
    engines: tuple[str, ...],
    variants: tuple[str, ...],
    mirrors: tuple[str, ...],
    settings: Path | None,
    catalogue: str | None,
    output: str,
    *,
    default_versions: bool,
) -> None:
    """Print the images of the catalogue: each engine, version and variant of accelerator, and the proxy before engines.

    As text, one image per line; with mirrors the published reference, a tab, and the mirrored one.

    \b
    llmservice images --variant cuda --default-versions
    llmservice images --mirror docker.io=registry.example/hub | while read from to; do crane copy $from $to; done
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        rows = catalogue_with(catalogue)
        prefixes = _prefixes(mirrors, settings)
    known = sorted({image.variant for image in images_of(rows, prefixes)})
    if unknown := sorted(set(variants) - set(known)):
        raise click.BadParameter(
            f"{', '.join(unknown)} is no variant of an image in the catalogue; use one of: {', '.join(known)}",
            param_hint="--variant",
        )
    found = [
        image
        for image in images_of(rows, prefixes)
        if (not engines or image.engine in engines)
        and (not variants or image.variant in {*variants, ""})
        and (image.default or not default_versions)
    ]
    click.echo(_written(found, output, with_source=bool(prefixes)), nl=False)


def images_of(catalogue: Catalogue, mirrors: Mapping[str, str]) -> Iterator[EngineImage]:
    """Every image of the catalogue, by engine, version and variant, and the proxy's; the mirrors applied."""
    for engine, versions in sorted(catalogue.engines.items()):
        for version, row in versions.versions.items():
            for variant, source in sorted(row.images.items()):
                yield EngineImage(
                    engine=engine,
                    version=version,
                    variant=variant,
                    default=version == versions.default,
                    image=mirrored(source, mirrors),
                    source=source,
                )
    proxy = catalogue.proxy_image
    yield EngineImage(engine=_PROXY, version="", variant="", default=True, image=mirrored(proxy, mirrors), source=proxy)


def _prefixes(mirrors: tuple[str, ...], settings: Path | None) -> Mapping[str, str]:
    """The mirrors of the options, else those of the operator's settings."""
    try:
        return mirrors_in(",".join(mirrors)) if mirrors else settings_of(settings).image_mirrors
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--mirror") from error


def _written(images: list[EngineImage], output: str, *, with_source: bool) -> str:
    if output == "json":
        return json.dumps([asdict(image) for image in images], indent=2) + "\n"
    if output == "yaml":
        return to_yaml([{"images": [asdict(image) for image in images]}])
    lines = dict.fromkeys(f"{image.source}\t{image.image}" if with_source else image.image for image in images)
    return "".join(f"{line}\n" for line in lines)
