"""`llmservice doctor`: what of a cluster has to be right for LLMServices, and is not."""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from llmservice.api.group import GROUP, PLURAL
from llmservice.catalog.loader import load_catalogue
from llmservice.cli.checkup import (
    Finding,
    Grade,
    Hidden,
    of_crd,
    of_kubernetes,
    of_operator,
    of_rights,
    of_services,
)
from llmservice.cli.checkup_activators import SELECTOR, of_activators
from llmservice.cli.checkup_devices import of_devices
from llmservice.cli.checkup_routes import RESOURCES, of_routes
from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.connecting import connected
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.output import as_data, is_for_programs, output_option
from llmservice.cli.table import Painted, bad, good, table, warning
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.device_census import DeviceCensus
from llmservice.cluster.own_namespace import USUAL
from llmservice.cluster.transport.connection import Connection
from llmservice.errors import NotFound, Refused
from llmservice.objects.names import LEASE
from llmservice.objects.references import Manifest, Ref

_CRD = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{PLURAL}.{GROUP}"
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_VERBS = ("get", "list", "create", "patch", "delete")


@click.command(name="doctor")
@cluster_options
@click.option("--operator-namespace", default=USUAL, show_default=True, help="Where the operator runs.")
@output_option()
def command(where: Where, operator_namespace: str, output: str) -> None:
    """Check the cluster: Kubernetes, CRD, operator, your rights, activators, devices, routes, LLMServices.

    Each finding says what to do about it. It reads with your own rights; what they do not show is marked with "?".

    \b
    Exit codes: 0 nothing is wrong, 1 something is, or the cluster does not answer; 2 wrong usage.

    \b
    llmservice doctor
    llmservice doctor -n ml --context production -o json | jq '.[] | select(.grade == "wrong")'
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        findings = asyncio.run(_examined(where, operator_namespace))
    if is_for_programs(output):
        click.echo(as_data([{**asdict(each), "grade": each.grade.value} for each in findings], output), nl=False)
    else:
        click.echo("\n".join(table((_painted(each.grade), each.about, each.message) for each in findings)))
    if any(finding.grade is Grade.WRONG for finding in findings):
        sys.exit(1)


def _painted(grade: Grade) -> Painted:
    return {Grade.OK: good, Grade.WRONG: bad}.get(grade, warning)(grade.value)


async def _examined(where: Where, operator_namespace: str) -> list[Finding]:
    async with connected(where) as (connection, chosen):
        server, census = ApiServer(connection), DeviceCensus(connection)
        lease = await _seen(lambda: server.get(Ref("Lease", operator_namespace, LEASE)))
        nodes, services = await _seen(census.nodes), await _services(server, chosen)
        leader = await _leader(server, lease, operator_namespace)
        known = () if isinstance(services, Hidden) else services
        return [
            of_kubernetes(await connection.call("GET", "/version")),
            of_crd(await _seen(lambda: connection.call("GET", _CRD))),
            *of_operator(lease, leader, datetime.now(UTC), operator_namespace, known),
            of_rights({verb: await _may(connection, verb, chosen) for verb in _VERBS}, chosen),
            of_activators(await _activators(server, operator_namespace), known, operator_namespace),
            *of_devices(nodes or [], await _taken(census), load_catalogue()),
            of_routes(await _seen(lambda: connection.call("GET", RESOURCES)), known),
            of_services(services),
        ]


async def _seen(read: Callable[[], Awaitable[Any]]) -> Any:
    """What was read; None where there is nothing, Hidden where the caller has no right."""
    try:
        return await read()
    except NotFound:
        return None
    except Refused as error:
        return Hidden(str(error))


async def _leader(server: ApiServer, lease: Manifest | Hidden | None, namespace: str) -> Manifest | Hidden | None:
    holder = str((lease.get("spec") or {}).get("holderIdentity") or "") if isinstance(lease, dict) else ""
    pod = holder.rpartition("_")[0]
    return await _seen(lambda: server.get(Ref("Pod", namespace, pod))) if pod else None


async def _activators(server: ApiServer, namespace: str) -> Any:
    return await _seen(lambda: server.list("Pod", namespace, label_selector=SELECTOR))


async def _may(connection: Connection, verb: str, namespace: str) -> bool:
    attributes = {"group": GROUP, "resource": PLURAL, "verb": verb, "namespace": namespace}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = await connection.call("POST", _REVIEWS, body=review)
    return bool((answer.get("status") or {}).get("allowed"))


async def _taken(census: DeviceCensus) -> dict[str, Counter[str]]:
    """Devices that pods hold, by node; none are known where pods may not be listed."""
    pods = await _seen(census.pods)
    taken: dict[str, Counter[str]] = {}
    for pod in () if isinstance(pods, Hidden) else pods or ():
        taken.setdefault(pod.node, Counter()).update(pod.devices)
    return taken


async def _services(server: ApiServer, namespace: str) -> list[Manifest] | Hidden:
    """Those of the cluster, else those of the namespace."""
    everywhere = await _seen(lambda: server.list("LLMService"))
    found = await _seen(lambda: server.list("LLMService", namespace)) if isinstance(everywhere, Hidden) else everywhere
    return found if isinstance(found, Hidden) else list(found or ())
