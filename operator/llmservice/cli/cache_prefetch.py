"""`llmservice cache prefetch`: the download of a model before its service is there."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cli.answers import Answer, answer_file
from llmservice.cli.cluster_options import connection_options
from llmservice.cli.connecting import connected
from llmservice.cli.documents import to_json, to_yaml
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.findings import Severity
from llmservice.cli.planner_options import planner_from, settings_of, setup_options
from llmservice.cli.reading import files_argument
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.errors import Conflict, InvalidInput
from llmservice.objects.names import DOWNLOAD_PREFIX, OPERATOR
from llmservice.objects.references import Manifest, ref_of
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.claim_checks import claim_problems
from llmservice.planning.facts import RegistrySettings
from llmservice.reconcilers.downloads import download_settings
from llmservice.rendering.claim import owned_claim
from llmservice.rendering.download_job import DownloadSettings, download_job

_PREFIX = "llmservice-prefetch-"


@click.command(name="prefetch")
@files_argument
@setup_options
@click.option("--image", default="", help="The operator's image, which downloads.  [default: as the settings say]")
@connection_options
@click.option(
    "--output",
    "-o",
    type=click.Choice(["yaml", "json"]),
    help="Print claims and Jobs, and ask no cluster to make them.",
)
def command(
    files: tuple[str, ...],
    catalogue: str | None,
    settings: Path | None,
    platform: str | None,
    image: str,
    where: Where,
    output: str | None,
) -> None:
    """Download the models of the LLMServices in FILES ("-" is standard input) to their claims, before they are applied.

    Made are claims and Jobs as the operator would make them. For what is applied later the operator finds the model on
    the claim, in seconds; while the download still runs it waits. What is there already stays as it is, so that the
    same command may be given again.

    Rights and kubeconfig are yours. Claims made here belong to no service yet: they stay when one is deleted, whatever
    spec.model.cache.claim.whenDeleted says.

    \b
    llmservice cache prefetch chat.yaml
    llmservice cache prefetch chat.yaml --settings operator.env -o yaml | kubectl apply -f -
    kubectl wait --for=condition=Complete --timeout=2h job -l app.kubernetes.io/name=llmservice-download -n ml
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        planner = planner_from(catalogue, settings, platform)
        how = download_settings(settings_of(settings))
        how = DownloadSettings(image=image or how.image, at_once=how.at_once, bandwidth=how.bandwidth)
        if not how.image:
            raise InvalidInput("NoImage", "set it, or LLMSERVICE_DOWNLOAD_IMAGE in --settings", field="--image")
        answers = [answer_file(file, planner) for file in files]
        for finding in (each for answer in answers for each in answer.findings()):
            if finding.severity is Severity.ERROR:
                click.echo(f"{finding.file}:{finding.line}: {finding.sentence()}", err=True)
        if any(answer.refused for answer in answers):
            sys.exit(1)
        wanted = [
            manifest for file in answers for each in file.answers for manifest in _of(each, planner.registry, how)
        ]
        if output:
            click.echo(to_yaml(wanted) if output == "yaml" else to_json(wanted), nl=False)
        else:
            asyncio.run(_made(wanted, where))


def prefetched(
    service: LLMService, cache: CachePlan, registry: RegistrySettings, settings: DownloadSettings
) -> tuple[Manifest, ...]:
    """The claim where the operator would make one, and the Job; both without an owner, as there is none yet.

    The operator takes the claim for its own, by its labels. It believes no Job but its own, so this one has another
    name: the operator's waits while it runs, and finds what it left on the claim.
    """
    claims = (owned_claim(service, cache.claim, cache.owned),) if cache.owned else ()
    job = download_job(service, cache, registry, settings)
    name = _PREFIX + job["metadata"]["name"].removeprefix(DOWNLOAD_PREFIX)
    renamed = {**job, "metadata": {**job["metadata"], "name": name}}
    return tuple(_without_owner(each) for each in (*claims, renamed))


def _of(answer: Answer, registry: RegistrySettings, settings: DownloadSettings) -> Iterator[Manifest]:
    if answer.service is None or answer.plan is None:
        return
    if answer.plan.cache is None:
        click.echo(f"{answer.file}:{answer.line}: {answer.name} has no spec.model.cache: skipped", err=True)
        return
    manifests = prefetched(answer.service, answer.plan.cache, registry, settings)
    for claim in (each for each in manifests if each["kind"] == "PersistentVolumeClaim"):
        if problem := next((each for each in claim_problems(claim, answer.plan) if each.refuses), None):
            raise InvalidInput(str(problem.reason), problem.message, field=f"{answer.file}: {answer.name}")
    yield from manifests


def _without_owner(manifest: Manifest) -> Manifest:
    metadata = {name: value for name, value in manifest["metadata"].items() if name != "ownerReferences"}
    return {**manifest, "metadata": metadata}


async def _made(manifests: Sequence[Manifest], where: Where) -> None:
    """Each that is not there; of two services that want the same model on the same claim one Job."""
    async with connected(where) as (connection, _):
        cluster = ApiServer(connection)
        for manifest in manifests:
            try:
                await cluster.post(manifest, manager=OPERATOR)
                said = "made"
            except Conflict:
                said = "is there already"
            click.echo(f"{ref_of(manifest)}: {said}")
