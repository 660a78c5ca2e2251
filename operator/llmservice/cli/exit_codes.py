"""What a verb ends with: one line on standard error, and an exit code that scripts can tell apart."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from llmservice.errors import OperatorError, UsageError

_FAILED = 1
_WRONG_USAGE = 2
"""click's own for an option that is none."""


@contextmanager
def errors_shown() -> Iterator[None]:
    """Ends the process with 2 for a `UsageError` and with 1 for any other of our errors."""
    try:
        yield
    except OperatorError as error:
        click.echo(f"llmservice: {error}", err=True)
        sys.exit(_WRONG_USAGE if isinstance(error, UsageError) else _FAILED)
