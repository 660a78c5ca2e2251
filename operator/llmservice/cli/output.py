"""How a verb prints what it found: a text for people, or the same as JSON or YAML for programs."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from llmservice.cli.documents import to_yaml

Command = TypeVar("Command", bound=Callable[..., Any])

TEXT, WIDE, JSON, YAML = "text", "wide", "json", "yaml"


def output_option(*, wide: bool = False) -> Callable[[Command], Command]:
    """Adds --output; with `wide` there is a text with more columns, too."""
    formats = [TEXT, WIDE, JSON, YAML] if wide else [TEXT, JSON, YAML]
    return click.option(
        "--output", "-o", type=click.Choice(formats), default=TEXT, show_default=True, help="How it is printed."
    )


def is_for_programs(output: str) -> bool:
    """Whether the output is data."""
    return output in (JSON, YAML)


def as_data(value: Any, output: str) -> str:
    """The value as JSON or YAML, with a line end."""
    if output == YAML:
        return to_yaml([value])
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
