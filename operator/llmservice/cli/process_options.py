"""What the processes in a cluster, `run` and `activate`, are told alike: cluster, namespaces, log level."""

import dataclasses
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from llmservice.cli.cluster_options import kubeconfig_option
from llmservice.cli.given_namespaces import given_namespaces
from llmservice.controllers.logs import set_up_logs
from llmservice.settings import LOG_LEVELS, Settings, settings_from

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOptions:
    """The options as they were given; what was not is None or empty."""

    context: str | None
    kubeconfig: str
    namespaces: tuple[str, ...]
    log_level: str | None

    def begin(self) -> Settings:
        """Set up the logs and choose the kubeconfig; the settings of the variables, over which these options win.

        Raises InvalidSetting.
        """
        settings = settings_from()
        if self.kubeconfig:
            os.environ["KUBECONFIG"] = self.kubeconfig  # every part of the process reads it anew when a token has ended
        settings = dataclasses.replace(
            settings,
            context=self.context or settings.context,
            namespaces=self.namespaces or settings.namespaces,
            log_level=self.log_level or settings.log_level,
        )
        set_up_logs(settings.log_level, settings.log_format)
        return settings


def process_options(*, namespaces: str) -> Callable[[Command], Command]:
    """Adds --context, --kubeconfig, --namespace and --log-level; the command gets them as `process`.

    `namespaces` is the help of --namespace, which says what the process does in one.
    """
    options = (
        click.option("--log-level", type=click.Choice(LOG_LEVELS), default=None, help="Log level (info)."),
        click.option("--namespace", "-n", "namespaces", multiple=True, callback=given_namespaces, help=namespaces),
        kubeconfig_option,
        click.option(
            "--context", default=None, help="Kubeconfig context. Omitted: the pod's service account, or the current."
        ),
    )

    def told(command: Command) -> Command:
        gathered = _gathered(command)
        for option in options:
            gathered = option(gathered)
        return gathered

    return told


def _gathered(command: Command) -> Command:
    @functools.wraps(command)
    def gathered(
        *, context: str | None, kubeconfig: str, namespaces: tuple[str, ...], log_level: str | None, **given: Any
    ) -> Any:
        process = ProcessOptions(context=context, kubeconfig=kubeconfig, namespaces=namespaces, log_level=log_level)
        return command(process=process, **given)

    return gathered  # type: ignore[return-value]
