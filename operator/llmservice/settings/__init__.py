"""Settings of the operator process, read once from the environment; frozen.

Belongs here: what an administrator sets for the whole operator. Does not: what a resource says, what a catalogue says.

Not pydantic-settings: its errors repeat the value, which may be an address with a password, and name the field instead
of the variable; a blank variable counts as set; and `Settings()` would read the environment wherever it is made.
"""

import os
from collections.abc import Mapping
from typing import Any

from llmservice.errors import InvalidSetting
from llmservice.settings.readers import LOG_LEVELS, mirrors_in, namespaces_in
from llmservice.settings.settings import VARIABLES, Settings
from llmservice.settings.variables import PREFIX, Variable

__all__ = [
    "LOG_LEVELS",
    "PREFIX",
    "VARIABLES",
    "Settings",
    "Variable",
    "mirrors_in",
    "namespaces_in",
    "settings_from",
]


def settings_from(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings an environment names; an empty variable is as good as none. Raises InvalidSetting naming it."""
    return Settings(
        **{
            variable.field: _read(variable, text)
            for variable in VARIABLES
            if (text := environment.get(variable.name, "").strip())
        }
    )


def _read(variable: Variable, text: str) -> Any:
    try:
        return variable.read(text)
    except ValueError as error:
        raise InvalidSetting(variable.name, str(error)) from error
