"""`llmservice validate`: every finding of files of LLMServices at once, for pipelines."""

import sys
from collections.abc import Callable, Mapping

import click

from llmservice.cli.answering import answer_files
from llmservice.cli.answers import FileAnswer
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.findings import Severity
from llmservice.cli.junit import as_junit
from llmservice.cli.planner_options import PlannedBy, planner_options
from llmservice.cli.reading import files_argument
from llmservice.cli.sarif import as_sarif
from llmservice.cli.validate_report import as_json, as_text, summary

_FORMATS: Mapping[str, Callable[[list[FileAnswer], frozenset[Severity]], str]] = {
    "text": lambda files, _: as_text(files),
    "json": lambda files, _: as_json(files),
    "sarif": lambda files, _: as_sarif(files),
    "junit": as_junit,
}


@click.command(name="validate")
@files_argument
@planner_options
@click.option("--strict", is_flag=True, help="Warnings fail, too.")
@click.option("--output", "-o", type=click.Choice(list(_FORMATS)), default="text", show_default=True)
def command(
    files: tuple[str, ...],
    planned_by: PlannedBy,
    output: str,
    *,
    strict: bool,
) -> None:
    """Check the LLMServices in FILES ("-" is standard input) and print every finding: file, line, rule, what to do.

    Errors are what the API server or the operator refuses; warnings are what can run and may disappoint, such as a
    model that barely fits. A resource whose fields are wrong is planned without them for what else is misspelled: the
    rest shows once they are corrected. Other kinds are skipped and counted, on standard error; files that hold nothing
    at all are an error. No cluster and no hub is asked.

    \b
    Exit codes: 0 nothing, or warnings without --strict; 1 findings; 2 wrong usage.

    \b
    llmservice validate manifests/*.yaml
    llmservice validate manifests/*.yaml --catalogue our-gpus.yaml --strict
    llmservice validate manifests/*.yaml -o sarif > llmservice.sarif
    kustomize build overlays/prod | llmservice validate - -o junit > report.xml
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        planner = planned_by.planner()
    answers = answer_files(files, planner, others_do=True)
    failing = frozenset({Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR})
    click.echo(_FORMATS[output](answers, failing), nl=False)
    click.echo(summary(answers), err=True)
    if any(finding.severity in failing for answer in answers for finding in answer.findings()):
        sys.exit(1)
