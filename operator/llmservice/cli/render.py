"""`llmservice render`: the manifests of LLMServices, without a cluster."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from llmservice.api.v1alpha1.resource import KIND, LLMService
from llmservice.cli.answering import answer_files
from llmservice.cli.answers import Answer, FileAnswer, Planner, answer_text
from llmservice.cli.comments import comments
from llmservice.cli.documents import to_json, to_yaml
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.findings import Severity
from llmservice.cli.planner_options import PlannedBy, planner_from, planner_options
from llmservice.cli.reading import files_argument
from llmservice.converging.replicas import replicas_to_state
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.claim import owned_claim
from llmservice.rendering.http_route import route_children
from llmservice.rendering.manifests import render


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of one file: manifests, problems, and notes about skipped documents."""

    manifests: tuple[Manifest, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@click.command(name="render")
@files_argument
@planner_options
@click.option("--quiet", "-q", is_flag=True, help="Without the comments about what was chosen.")
@click.option("--output", "-o", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True, help="Format.")
def command(
    files: tuple[str, ...],
    planned_by: PlannedBy,
    output: str,
    *,
    quiet: bool,
) -> None:
    """Print the manifests that the operator creates for the LLMServices in FILES ("-" is standard input).

    Each FILE may hold several documents; other kinds are skipped. What the operator chooses where a resource leaves it
    open stands above its manifests as comments, each with the reason. Problems go to standard error, one line each:
    file, line, field, problem and remedy. With any problem nothing is printed and the exit code is 1.

    The catalogue and settings of a cluster change what is rendered: give them as options, have them read with
    --from-cluster, or set them as the operator's own environment variables. `status` in a file is passed over.

    \b
    llmservice render chat.yaml
    llmservice render chat.yaml --catalogue our-gpus.yaml --settings operator.env --quiet
    kubectl get llm chat -o yaml | llmservice render - -o json
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        planner = planned_by.planner()
    results = answer_files(files, planner)
    for line in (line for result in results for line in (*_notes(result), *_problems(result))):
        click.echo(line, err=True)
    if any(result.refused for result in results):
        sys.exit(1)
    answers = [answer for result in results for answer in result.answers]
    if output == "json":
        click.echo(to_json(manifest for answer in answers for manifest in _manifests(answer)), nl=False)
    else:
        click.echo("---\n".join(_yaml(answers, quiet=quiet)), nl=False)


def render_file(name: str, text: str, planner: Planner | None = None) -> Rendered:
    """The manifests of every LLMService in a file, with problems and notes."""
    result = answer_text(name, text, planner or planner_from(environment={}))
    manifests = tuple(manifest for answer in result.answers for manifest in _manifests(answer))
    return Rendered(manifests, tuple(_problems(result)), tuple(_notes(result)))


def render_resource(resource: Mapping[str, Any], planner: Planner | None = None) -> tuple[Manifest, ...]:
    """The manifests that the operator creates for a resource; raises InvalidSpec."""
    service = LLMService.parse({**resource, "status": None})
    return _of_plan(service, (planner or planner_from(environment={}))(service))


def _manifests(answer: Answer) -> tuple[Manifest, ...]:
    return _of_plan(answer.service, answer.plan) if answer.service and answer.plan else ()


def _of_plan(service: LLMService, plan: ServicePlan) -> tuple[Manifest, ...]:
    spec = service.spec
    replicas = replicas_to_state(fixed=spec.replicas, suspend=spec.suspend, minimum=plan.minimum or 1, deployment=None)
    return (*_claim(service, plan), *render(plan, replicas.value), *route_children(plan))


def _claim(service: LLMService, plan: ServicePlan) -> Iterator[Manifest]:
    """The claim of a cache, where the operator makes one. The Job that fills it is its own business."""
    if plan.cache and plan.cache.owned:
        claim = owned_claim(service, plan.cache.claim, plan.cache.owned)
        if not plan.owner.uid:
            claim["metadata"].pop("ownerReferences", None)
        yield claim


def _yaml(answers: Iterable[Answer], *, quiet: bool) -> Iterator[str]:
    for answer in answers:
        if answer.plan is not None:
            yield ("" if quiet else comments(answer, answer.plan)) + to_yaml(_manifests(answer))


def _problems(result: FileAnswer) -> Iterator[str]:
    for finding in result.findings():
        if finding.severity is Severity.ERROR:
            yield f"{finding.file}:{finding.line}: {finding.sentence()}"


def _notes(result: FileAnswer) -> Iterator[str]:
    return (f"{result.file}:{line}: skipped: {kind} is not an {KIND}" for line, kind in result.skipped)
