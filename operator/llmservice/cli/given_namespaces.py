"""What an option says that names namespaces, each once."""

import click

from llmservice.settings import namespaces_in


def given_namespaces(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Validated like LLMSERVICE_NAMESPACES."""
    try:
        names = namespaces_in(",".join(given))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    if given and not names:
        raise click.BadParameter("is empty: name a namespace, or omit the option for all")
    return names
