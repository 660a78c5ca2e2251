"""Settings of the operator process, read once from the environment; frozen."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from llmservice.errors import InvalidSpec

_PREFIX = "LLMSERVICE_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an administrator sets for the whole operator.

    `namespaces` empty means all. `workers` is the number of resources worked on at once. `context` names a kubeconfig
    context; empty means the service account of the pod, or the current context.
    """

    namespaces: tuple[str, ...] = ()
    workers: int = 16
    context: str = ""
    log_level: str = "info"


_DEFAULTS = Settings()


def settings_from(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings an environment names; raises InvalidSpec naming the variable."""
    namespaces = environment.get(_PREFIX + "NAMESPACES", "")
    return Settings(
        namespaces=tuple(sorted({name.strip() for name in namespaces.split(",") if name.strip()})),
        workers=_whole_number(environment, "WORKERS", _DEFAULTS.workers, most=256),
        context=environment.get(_PREFIX + "CONTEXT", ""),
        log_level=environment.get(_PREFIX + "LOG_LEVEL", _DEFAULTS.log_level).lower(),
    )


def _whole_number(environment: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = environment.get(_PREFIX + name, "")
    if not text:
        return default
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise InvalidSpec("InvalidSetting", f"{text!r} is not a number from 1 to {most}", field=_PREFIX + name)
    return int(text)
