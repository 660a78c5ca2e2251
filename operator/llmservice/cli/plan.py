"""`llmservice plan`: what would run for each LLMService of a file and why, or why it cannot."""

import json
import sys
from typing import BinaryIO

import click

from llmservice.cli.answering import answer_files
from llmservice.cli.documents import to_yaml
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.fit_facts import facts_in_file
from llmservice.cli.plan_data import as_object
from llmservice.cli.plan_text import as_text
from llmservice.cli.planner_options import PlannedBy, planner_options
from llmservice.cli.reading import files_argument
from llmservice.models.inspection_answer import facts_as_json


@click.command(name="plan")
@files_argument
@planner_options
@click.option("--facts", type=click.File("rb"), help="JSON file with facts of the model, where a resource states none.")
@click.option("--output", "-o", type=click.Choice(["text", "yaml", "json"]), default="text", show_default=True)
def command(
    files: tuple[str, ...],
    planned_by: PlannedBy,
    facts: BinaryIO | None,
    output: str,
) -> None:
    """Print what would run for each LLMService in FILES ("-" is standard input), or why it is refused.

    The answer is the operator's own: engine, version, image, devices and arguments; each default with its reason;
    whether the model fits, with the arithmetic and the ways out. No cluster and no hub is asked: a model is known from
    spec.model.facts, --facts or the catalogue.

    \b
    Exit codes: 0 all can run, 1 something is refused, 2 wrong usage.

    \b
    llmservice plan chat.yaml
    llmservice plan chat.yaml --catalogue our-gpus.yaml --settings operator.env --platform gke
    llmservice inspect our/model -o json > facts.json && llmservice plan chat.yaml --facts facts.json
    llmservice plan chat.yaml -o json | jq '.services[].defaults'
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        planner = planned_by.planner()
        given = facts_as_json(facts_in_file(facts)) if facts else None
    answers = answer_files(files, planner, given)
    if output == "text":
        click.echo(as_text(answers), nl=False)
    else:
        answer = as_object(answers)
        click.echo(to_yaml([answer]) if output == "yaml" else json.dumps(answer, indent=1) + "\n", nl=False)
    if any(answer.refused for answer in answers):
        sys.exit(1)
