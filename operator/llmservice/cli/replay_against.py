"""The option --against: other policies to play the same load under."""

from typing import Any

import click

from llmservice.errors import UsageError
from llmservice.simulation.peers.registry import NamedPolicy, named_policy


class Policies(click.ParamType[tuple[NamedPolicy, ...]]):
    """Names of policies, separated by commas."""

    name = "policies"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[NamedPolicy, ...]:
        """The policies in the order given. Fails for a name that means nothing or comes twice."""
        if isinstance(value, tuple):  # the default, which click converts too
            return value
        try:
            policies = tuple(named_policy(name.strip()) for name in str(value).split(","))
        except UsageError as error:
            self.fail(error.message, param, ctx)
        names = [policy.name for policy in policies]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            self.fail(f"{twice} is named twice: once is enough", param, ctx)
        return policies
