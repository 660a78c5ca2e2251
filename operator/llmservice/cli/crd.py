"""`llmservice crd`: the CustomResourceDefinition."""

import json

import click

from llmservice.api.crd import crd_manifest, crd_yaml
from llmservice.engines.registry import ENGINES


@click.command(name="crd")
@click.option("--output", "-o", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True, help="Format.")
def command(output: str) -> None:
    """Print the CustomResourceDefinition of LLMService.

    The same file as in crds/ of the repository, for exactly this version of the operator.

    \b
    llmservice crd | kubectl apply --server-side -f -
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    engines = sorted(ENGINES)
    text = crd_yaml(engines) if output == "yaml" else json.dumps(crd_manifest(engines), indent=2) + "\n"
    click.echo(text, nl=False)
