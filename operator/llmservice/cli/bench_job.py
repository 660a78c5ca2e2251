"""The options of `llmservice bench` that are about its Job in the cluster."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from llmservice.bench.job import IMAGE, JobSettings, KeySecret
from llmservice.errors import UsageError
from llmservice.untrusted.patterns import compiled

_Command = TypeVar("_Command", bound=Callable[..., Any])

_NAME = compiled(r"\A[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\z")
_ENTRY = compiled(r"\A[-._a-zA-Z0-9]{1,253}\z")
_QUANTITY = compiled(r"\A[0-9]{1,9}(\.[0-9]{1,3})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?\z")
_OF_THE_JOB = ("image", "pull_secrets", "key_secret", "cpu", "memory")


def job_options(command: _Command) -> _Command:
    """Adds --in-cluster and what belongs to it."""
    for option in (
        click.option("--memory", metavar="QUANTITY", help="That the Job asks for, and may take.  [default: 4Gi]"),
        click.option("--cpu", metavar="QUANTITY", help="That the Job asks for.  [default: 1]"),
        click.option(
            "--key-secret",
            metavar="NAME[/ENTRY]",
            help="Secret with a client's key, for the Job.  [default: the service's own, spec.auth]",
        ),
        click.option("--pull-secret", "pull_secrets", metavar="NAME", multiple=True, help="For the image of the Job."),
        click.option("--image", help=f"Of the Job, such as that of a mirror.  [default: {IMAGE}]"),
        click.option("--in-cluster", is_flag=True, help="Send the load from a Job in the service's namespace."),
    ):
        command = option(command)
    return command


def job_of(options: dict[str, Any], key_file: Path | None) -> JobSettings | None:
    """How the Job runs; None where there is to be none. Raises UsageError for what nobody would look at."""
    given = {name: options[name] for name in _OF_THE_JOB if options[name]}
    if not options["in_cluster"]:
        for name in given:
            option = f"--{name.removesuffix('s') if name == 'pull_secrets' else name}".replace("_", "-")
            raise UsageError("OptionWithoutEffect", "would change nothing: it belongs to --in-cluster", field=option)
        return None
    for option, value in {"--key-file": key_file, "--keep": options["keep"]}.items():
        if value is not None:
            way_out = "give --key-secret" if option == "--key-file" else "leave it out"
            raise UsageError("OptionWithoutEffect", f"is of this machine, the Job has none: {way_out}", field=option)
    if secret := given.pop("key_secret", None):
        given["key"] = _secret(secret)
    for name in {"cpu", "memory"} & given.keys():
        if not _QUANTITY.is_in(given[name]):
            raise UsageError("InvalidQuantity", f"{given[name]!r}: write it as 2, 500m or 4Gi", field=f"--{name}")
    return JobSettings(**given)


def _secret(text: str) -> KeySecret:
    name, slash, entry = text.partition("/")
    if not _NAME.is_in(name) or (slash and not _ENTRY.is_in(entry)):
        raise UsageError("InvalidSecret", f"{text!r}: give NAME or NAME/ENTRY of a Secret", field="--key-secret")
    return KeySecret(name=name, entry=entry)
