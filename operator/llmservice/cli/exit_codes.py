"""How a verb fails: one line on standard error, and an exit code for scripts."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from llmservice.cli.program import program
from llmservice.errors import OperatorError, UsageError

FAILED = 1
_WRONG_USAGE = 2
"""As click for an unknown option."""


@contextmanager
def errors_shown(failed: int = FAILED) -> Iterator[None]:
    """Exit with 2 for a `UsageError` and with `failed` for any other `OperatorError`."""
    try:
        yield
    except OperatorError as error:
        click.echo(f"{program()}: {error}", err=True)
        sys.exit(_WRONG_USAGE if isinstance(error, UsageError) else failed)
