"""`llmservice render`: the manifests of LLMServices, without a cluster."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO

import click
import yaml

from llmservice.api.v1alpha1.resource import KIND, LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.cli.documents import documents_in, to_json, to_yaml
from llmservice.converging.replicas import replicas_to_state
from llmservice.errors import OperatorError
from llmservice.objects.references import Manifest
from llmservice.planning.facts import RegistrySettings, choose_facts
from llmservice.planning.plan import plan_service
from llmservice.rendering.manifests import render


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of one file: manifests, problems, and notes about skipped documents."""

    manifests: tuple[Manifest, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@click.command(name="render")
@click.argument("files", nargs=-1, required=True, type=click.File("r", encoding="utf-8"))
@click.option("--output", "-o", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True, help="Format.")
def command(files: tuple[TextIO, ...], output: str) -> None:
    """Print the manifests that the operator creates for the LLMServices in FILES ("-" is standard input).

    Each FILE may hold several documents; other kinds are skipped. Problems go to standard error, one line each: file,
    document, field, problem and remedy. With any problem nothing is printed and the exit code is 1.

    \b
    llmservice render chat.yaml
    kubectl get llm chat -o yaml | llmservice render - -o json
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    results = [_of_file(file) for file in files]
    for line in (line for result in results for line in (*result.notes, *result.problems)):
        click.echo(line, err=True)
    if any(result.problems for result in results):
        sys.exit(1)
    manifests = [manifest for result in results for manifest in result.manifests]
    click.echo(to_yaml(manifests) if output == "yaml" else to_json(manifests), nl=False)


def _of_file(file: TextIO) -> Rendered:
    try:
        text = file.read()
    except UnicodeDecodeError as error:
        return Rendered(problems=(f"{file.name}: is not UTF-8: {error}; save the file as UTF-8",))
    return render_file(file.name, text)


def render_file(name: str, text: str) -> Rendered:
    """The manifests of every LLMService in a file, with problems and notes."""
    try:
        documents = list(documents_in(text))
    except yaml.YAMLError as error:
        return Rendered(problems=(f"{name}: is not YAML: {' '.join(str(error).split())}; correct the file",))
    manifests: list[Manifest] = []
    problems: list[str] = []
    notes: list[str] = []
    for number, document in documents:
        if not isinstance(document, Mapping) or document.get("kind") != KIND:
            notes.append(f"{name}:{number}: skipped: {_described(document)} is not an {KIND}")
            continue
        try:
            manifests += render_resource(document)
        except OperatorError as error:
            problems += [f"{name}:{number}: {line}" for line in str(error).splitlines()]
    return Rendered(tuple(manifests), tuple(problems), tuple(notes))


def render_resource(resource: Mapping[str, Any]) -> tuple[Manifest, ...]:
    """The manifests that the operator creates for a resource; raises InvalidSpec."""
    service = LLMService.parse(resource)
    facts = choose_facts(service, load_catalogue(), RegistrySettings(), platform="", kept=None)
    spec, plan = service.spec, plan_service(service, facts)
    replicas = replicas_to_state(fixed=spec.replicas, suspend=spec.suspend, minimum=plan.minimum or 1, deployment=None)
    return render(plan, replicas.value)


def _described(document: object) -> str:
    kind = document.get("kind") if isinstance(document, Mapping) else None
    return str(kind) if kind else "this document"
