"""`llmservice cache`: models on claims: which there are, before they are needed, and no longer than that."""

import click

from llmservice.cli.cache_list import command as list_command
from llmservice.cli.cache_prefetch import command as prefetch_command
from llmservice.cli.cache_prune import command as prune_command


@click.group(name="cache")
def command() -> None:
    """Models on claims (spec.model.cache): list them, download one before it is needed, remove what nobody needs."""


for verb in (list_command, prefetch_command, prune_command):
    command.add_command(verb)
