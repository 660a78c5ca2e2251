"""How a verb fails: one line on standard error, and an exit code for scripts."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from llmservice.errors import OperatorError, UsageError

_FAILED = 1
_WRONG_USAGE = 2
"""As click for an unknown option."""


@contextmanager
def errors_shown() -> Iterator[None]:
    """Exit with 2 for a `UsageError` and with 1 for any other `OperatorError`."""
    try:
        yield
    except OperatorError as error:
        click.echo(f"llmservice: {error}", err=True)
        sys.exit(_WRONG_USAGE if isinstance(error, UsageError) else _FAILED)
