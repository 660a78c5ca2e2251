"""Which namespace a command means when none is given: that of the context, as for kubectl."""

import click

from llmservice.cluster.transport.credentials import load_credentials
from llmservice.errors import Unavailable

namespace_option = click.option(
    "--namespace", "-n", default="", help="Namespace of the LLMServices. Omitted: that of the context."
)


async def namespace_or_current(namespace: str, context: str = "") -> str:
    """The namespace given, else that of the kubeconfig's context; `default` where neither is to be had."""
    if namespace:
        return namespace
    try:
        return (await load_credentials(context=context)).namespace
    except Unavailable:
        return "default"
