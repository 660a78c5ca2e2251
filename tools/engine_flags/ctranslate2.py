"""The options of the project's server for CTranslate2, from its own parser; the library has no command line."""

import argparse

import click

from ctranslate2_server.options import parser
from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.recording import record

_TAKES = {None: Takes.ONE, 0: Takes.NONE, "+": Takes.MANY, "?": Takes.OPTIONAL}


@click.command("ctranslate2")
@click.argument("version")
def command(version: str) -> None:
    """From the server in images/ctranslate2, under the version of the library that its image has."""
    header = f"ctranslate2-server, images/ctranslate2, with CTranslate2 {version}. Written by tools.engine_flags."
    record(f"ctranslate2-{version}", (header,), parser_options(parser()))


def parser_options(made: argparse.ArgumentParser) -> list[Option]:
    """Every option of a parser, sorted; its positional arguments are none."""
    found = [
        Option(tuple(sorted(action.option_strings, reverse=True)), "", _TAKES[action.nargs])
        for action in made._actions  # noqa: SLF001  (argparse has no other list of them)
        if action.option_strings
    ]
    return sorted(found, key=lambda option: option.spellings)
