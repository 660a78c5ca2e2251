"""The options by which a verb is told cluster and namespace: those that kubectl has, under the same names."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from llmservice.cli.completing import contexts, namespaces
from llmservice.cli.where import Where

Command = TypeVar("Command", bound=Callable[..., Any])

kubeconfig_option = click.option(
    "--kubeconfig",
    default="",
    metavar="FILE",
    help="Kubeconfig file. Omitted: $KUBECONFIG, in a pod its service account, else ~/.kube/config.",
)


def cluster_options(command: Command) -> Command:
    """Adds --namespace, --context and --kubeconfig; the command gets them as `where`."""
    option = click.option(
        "--namespace",
        "-n",
        default="",
        shell_complete=namespaces,
        help="Namespace of the LLMServices. Omitted: that of the context.",
    )
    return option(connection_options(command))


def connection_options(command: Command) -> Command:
    """Adds --context and --kubeconfig alone, for what is of no namespace, or of those that its files name."""

    @functools.wraps(command)
    def gathered(*arguments: Any, kubeconfig: str, context: str, namespace: str = "", **given: Any) -> Any:
        where = Where(kubeconfig=kubeconfig, context=context, namespace=namespace)
        return command(*arguments, where=where, **given)

    for option in (
        kubeconfig_option,
        click.option(
            "--context", default="", shell_complete=contexts, help="Kubeconfig context. Omitted: the current one."
        ),
    ):
        gathered = option(gathered)
    return gathered  # type: ignore[return-value]
