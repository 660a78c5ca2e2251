"""`llmservice bench`: load on a live service, and what it measured."""

import asyncio
import json
import shutil
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from llmservice.autoscaling.policy import Objective
from llmservice.bench import comparison, text
from llmservice.bench.report import as_json
from llmservice.bench.scenarios import SCENARIOS
from llmservice.bench.transfer import Handed, packed
from llmservice.cli.bench_asking import key_of
from llmservice.cli.bench_files import Files
from llmservice.cli.bench_job import job_of, job_options
from llmservice.cli.bench_load import LoadOptions, arguments_of, load_of, trace_within
from llmservice.cli.bench_measuring import Measured, Setting, measure
from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.where import Where

_INTERRUPTED = 130
"""As of a shell for a program that Ctrl-C ended."""

_Options = TypeVar("_Options")

_FILE = click.Path(path_type=Path, dir_okay=False)
_TELL_SECONDS, _TELL_IN_LOG_SECONDS = 30.0, 5.0
"""Between two lines of progress where there is no terminal; a log of a Job is followed by somebody."""

_SECONDS = click.FloatRange(0, 86_400)


@click.command(name="bench")
@click.argument("target", metavar="NAME|URL")
@cluster_options
@click.option("--model", default="", help="Model to ask for.  [default: the service's, or the first that a URL lists]")
@click.option(
    "--key-file",
    type=click.Path(path_type=Path),
    help="File with a client's key, or a folder of such files. Omitted: LLMSERVICE_BENCH_KEY, or none.",
)
@click.option("--against", metavar="NAME|URL", help="Another service: the same load on it afterwards, side by side.")
@click.option("--scenario", type=click.Choice(list(SCENARIOS)), help="A load that people know, by its name.")
@click.option("--users", type=click.IntRange(1, 10_000), help="Users who ask, read and ask again.")
@click.option("--ramp", type=_SECONDS, help="Of --users: seconds within which they begin.  [default: 0]")
@click.option("--rounds", type=click.IntRange(1, 1000), help="Of --users: questions of each.  [default: 1]")
@click.option("--think", type=_SECONDS, help="Of --users: seconds between an answer and the next.  [default: 0]")
@click.option("--rate", type=click.FloatRange(0.001, 10_000), help="Requests a second, answered or not.")
@click.option("--poisson", is_flag=True, help="Of --rate: by chance, as independent users come.")
@click.option("--seconds", type=click.FloatRange(1, 86_400), help="Of --rate: for so long.  [default: 60]")
@click.option("--sweep", metavar="LEVELS", help="Requests under way at once, level by level: 1-9, or 1,2,4,8.")
@click.option("--requests", type=click.IntRange(1, 100_000), help="Of --sweep: at each level.  [default: 64]")
@click.option("--mixed", is_flag=True, help="Of --sweep: prompts and answers of a third to twice the length.")
@click.option("--trace", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Recorded load, CSV.")
@click.option("--prompt-tokens", type=click.IntRange(1, 131_072), help="Of a prompt.  [default: 128]")
@click.option("--answer-tokens", type=click.IntRange(1, 131_072), help="Of an answer.  [default: 200]")
@click.option(
    "--until-eos", is_flag=True, help="Let answers end where the model ends them. Else: at their full length."
)
@click.option("--ttft", type=click.FloatRange(0.001, 3600), default=3.0, show_default=True, help="Objective, seconds.")
@click.option(
    "--tpot", type=click.FloatRange(0.0001, 60), default=0.1, show_default=True, help="Objective per further token."
)
@click.option(
    "--share",
    type=click.FloatRange(1, 100),
    default=99,
    show_default=True,
    help="Percent of requests that have to be within the objective for a level to count as held.",
)
@click.option("--timeout", type=click.FloatRange(1, 3600), default=600, show_default=True, help="Of one request.")
@click.option("--at-most", type=click.FloatRange(1, 86_400), default=3600, show_default=True, help="Seconds in all.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of everything left to chance.")
@click.option("--picture", type=_FILE, help="Draw it: .svg or .png. Needs the extra `plot`.")
@click.option("--save", "profile", type=_FILE, help="Save what was measured as an engine profile for `replay`.")
@click.option("--slots", type=click.IntRange(1, 4096), help="For --save: requests that it works on at once.")
@click.option("--save-trace", "trace_file", type=_FILE, help="Save the requests as they came, for `replay --trace`.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep the load generator's files here.")
@job_options
@click.option(
    "--output",
    "-o",
    type=click.Choice(["text", "json", "records"]),
    default="text",
    show_default=True,
    help="records: what --in-cluster reads from the log of its Job.",
)
def command(  # the other options are taken apart by `_taken`
    target: str,
    where: Where,
    output: str,
    key_file: Path | None,
    ttft: float,
    tpot: float,
    share: float,
    **options: Any,
) -> None:
    """Put load on a service and print what it measured: time to first token, time per token, throughput, errors.

    NAME is an LLMService, reached through the API server, as by `kubectl port-forward`; URL any server that speaks
    OpenAI's protocol. Load is sent by AIPerf, which is installed into a folder of its own the first time; with
    --in-cluster by a Job beside the service, which is followed, and deleted at the end.

    \b
    Exit codes: 0 done, 1 nothing was answered or the target refuses,
    2 wrong usage, 130 Ctrl-C: figures are partial.

    \b
    llmservice bench chat --scenario sweep-1-9 --picture sweep.svg
    llmservice bench chat --users 100 --ramp 10 --rounds 10 --think 2
    llmservice bench chat --against chat-b --sweep 1,4,16
    llmservice bench chat -n ml --in-cluster --scenario ramp-100
    llmservice bench http://10.0.0.7:8000 --rate 2 --poisson --seconds 300 --save l4.yaml
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        asked, files = _taken(LoadOptions, options), _taken(Files, options)
        load, job = load_of(asked), job_of(options, key_file)
        files.check()
        given = {
            "target": target,
            "where": where,
            "load": load,
            "objective": Objective(ttft_seconds=ttft, tpot_seconds=tpot),
            "share": share / 100,
            "key": "" if job else key_of(key_file),
            "tell_seconds": _TELL_IN_LOG_SECONDS if output == "records" else _TELL_SECONDS,
            "job": job,
            "arguments": (*arguments_of(asked), *_passed_on(options)),
            "trace": trace_within(load) if job and asked.trace else "",
        }
        measured = _measured(_taken(Setting, {**options, **given}))
        _tell(measured, output)
        files.write(measured)
    if any(each.report.interrupted for each in measured):
        sys.exit(_INTERRUPTED)
    if not all(any(row.requests for row in each.report.rows) for each in measured):
        sys.exit(1)


def _measured(setting: Setting) -> list[Measured]:
    """Ctrl-C before the load began ends the command like one in it."""
    try:
        return asyncio.run(measure(setting))
    except KeyboardInterrupt:
        click.echo("stopped before the load began: nothing was measured", err=True)
        sys.exit(_INTERRUPTED)


def _taken(kind: type[_Options], options: dict[str, Any]) -> _Options:
    """Those of the options that are fields of this class."""
    return kind(**{field.name: options[field.name] for field in fields(kind) if field.name in options})  # type: ignore[arg-type]


def _passed_on(options: dict[str, Any]) -> list[str]:
    """Options of a measurement that a Job has to know, too."""
    numbers = [f"--{name.replace('_', '-')}={options[name]:g}" for name in ("timeout", "at_most")]
    return [*numbers, *(["--until-eos"] if options["until_eos"] else [])]


def _width() -> int:
    """Of the terminal; 0 for none, such as a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def _tell(measured: list[Measured], output: str) -> None:
    first, width = measured[0].report, _width()
    if output == "records":
        handed = Handed(model=first.model, interrupted=first.interrupted, records=measured[0].records)
        click.echo("\n".join(packed(handed)))
        return
    if len(measured) == 1:
        click.echo(json.dumps(as_json(first)) if output == "json" else text.as_text(first, width=width))
        return
    second = measured[1].report
    both = comparison.compared(
        (first, second), (measured[0].records, measured[1].records), (first.target, second.target)
    )
    if output == "json":
        click.echo(json.dumps({**as_json(first), "against": as_json(second), "decision": comparison.decision(both)}))
    else:
        click.echo(
            "\n\n".join((text.as_text(first, width=width), text.as_text(second, width=width), comparison.as_text(both)))
        )
