"""`llmservice gateway-config`: one address for many models, by a LiteLLM proxy before the services."""

import asyncio

import click

from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.connecting import connected
from llmservice.cli.documents import to_yaml
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.gateway_entries import configuration, is_served, key_variable, names_of
from llmservice.cli.program import program
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.errors import InvalidInput, UsageError
from llmservice.objects.references import Manifest


@click.command(name="gateway-config")
@cluster_options
@click.option("--all-namespaces", "-A", is_flag=True, help="The services of all namespaces.")
@click.option(
    "--fallback",
    "fallbacks",
    multiple=True,
    metavar="NAME=OTHER[,OTHER]",
    help="Ask OTHER where NAME fails; may be given for several names.",
)
def command(where: Where, fallbacks: tuple[str, ...], *, all_namespaces: bool) -> None:
    """Print the configuration of a LiteLLM proxy that answers for all LLMServices of a namespace at one address.

    Each name that clients may ask for becomes an entry: models, their aliases, adapters. Services with the same name
    share its load. Suspended services, and those that no operator has looked at, are left out and named on stderr, as
    are the environment variables with keys that the proxy needs. It is read with your own rights: `list` llmservices.

    \b
    Exit codes: 0 printed, 1 there is nothing to print or the cluster refuses, 2 wrong usage.

    \b
    llmservice gateway-config > config.yaml && litellm --config config.yaml
    llmservice gateway-config -n ml --fallback chat=small > config.yaml
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        services = asyncio.run(_services(where, everywhere=all_namespaces))
        served = [service for service in services if is_served(service)]
        _tell("left out", [_name(service) for service in services if not is_served(service)])
        if not served:
            raise InvalidInput("NothingServed", f"no LLMService to answer for; see: {program()} status")
        chosen = _fallbacks(fallbacks, {name for service in served for name in names_of(service)})
        click.echo(to_yaml([configuration(served, chosen)]), nl=False)
        _tell("set for the proxy", ["LITELLM_MASTER_KEY", *filter(None, map(key_variable, served))])


async def _services(where: Where, *, everywhere: bool) -> list[Manifest]:
    async with connected(where) as (connection, namespace):
        services = await ApiServer(connection).list("LLMService", "" if everywhere else namespace)
        return sorted(services, key=_name)


def _fallbacks(said: tuple[str, ...], names: set[str]) -> dict[str, list[str]]:
    """By name what is asked instead; raises UsageError for what nobody serves."""
    chosen: dict[str, list[str]] = {}
    for text in said:
        name, equals, others = text.partition("=")
        if not equals or not others:
            raise UsageError("NotAFallback", "write NAME=OTHER, with names that clients ask for", field="--fallback")
        chosen[name] = others.split(",")
    unknown = sorted({each for name, others in chosen.items() for each in (name, *others)} - names)
    if unknown:
        served = ", ".join(sorted(names))
        raise UsageError("NotServed", f"nobody serves {', '.join(unknown)}; there are {served}", field="--fallback")
    return chosen


def _name(service: Manifest) -> str:
    metadata = service["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def _tell(what: str, names: list[str]) -> None:
    if names:
        click.echo(f"{what}: {', '.join(names)}", err=True)
