"""The name that the command was called by, for its hints: `llmservice`, or `kubectl llm`."""

import click

_NAME = "llmservice"


def program() -> str:
    """What to write before a verb."""
    context = click.get_current_context(silent=True)
    name = (context.find_root().info_name if context else "") or ""
    return name if name.endswith((_NAME, " llm")) else _NAME
