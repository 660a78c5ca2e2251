"""Settings of the operator process, read once from the environment; frozen.

Belongs here: what an administrator sets for the whole operator. Does not: what a resource says, what a catalogue says.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from llmservice.errors import InvalidSetting
from llmservice.settings.readers import LOG_LEVELS, mirrors_in, namespaces_in
from llmservice.settings.variables import PREFIX, VARIABLES, Variable

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an administrator sets for the whole operator; `VARIABLES` says what each field means.

    `catalogue` is namespace and name of a ConfigMap; None means the usual name in the operator's own namespace.
    `tolerations` are Kubernetes JSON, not yet checked beyond their shape.
    """

    namespaces: tuple[str, ...] = ()
    workers: int = 16
    context: str = ""
    log_level: str = "info"
    log_format: Literal["text", "json"] = "text"
    probe_port: int = 0
    metrics_port: int = 0
    metrics_auth: Literal["kubernetes", "none"] = "kubernetes"
    tls_cert_file: str = ""
    tls_key_file: str = ""
    lease_namespace: str = ""
    catalogue: tuple[str, str] | None = None
    platform: str = ""
    image_mirrors: Mapping[str, str] = field(default_factory=dict)
    pull_secrets: tuple[str, ...] = ()
    hf_endpoint: str = ""
    engine_https_proxy: str = ""
    engine_http_proxy: str = ""
    engine_no_proxy: str = ""
    tolerations: tuple[Mapping[str, Any], ...] = ()
    monitoring_namespace: str = ""
    prometheus_url: str = ""
    prometheus_token_file: str = ""


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
