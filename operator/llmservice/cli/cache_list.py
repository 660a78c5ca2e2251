"""`llmservice cache list`: which models are on which claims."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from llmservice.cli.cache_claim import cache_claim_at
from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.connecting import connected
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.output import WIDE, as_data, is_for_programs, output_option
from llmservice.cli.table import table
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.errors import UsageError

_GB = 10**9
_Rows = list[dict[str, Any]]
_OF_CLUSTER = ("namespace", "service", "claim", "model", "revision", "bytes", "state", "key")
_WIDE = ("path",)
_OF_CLAIM = ("model", "revision", "bytes", "files", "state", "key")


@click.command(name="list")
@cluster_options
@click.option("--all-namespaces", "-A", is_flag=True, help="Those of all namespaces.")
@click.option("--root", type=click.Path(path_type=Path), help="Folder where a claim is mounted: list what is on it.")
@output_option(wide=True)
def command(where: Where, root: Path | None, output: str, *, all_namespaces: bool) -> None:
    """Print the LLMServices that have a cache: claim, model, revision, bytes, and whether it is complete.

    They are read from the cluster of your kubeconfig, with your own rights. With --root no cluster is asked: what is
    printed is what the downloads on a mounted claim say of themselves.

    \b
    llmservice cache list -n ml
    llmservice cache list --all-namespaces -o json | jq -r '.[] | select(.claim == "weights") | .key'
    kubectl exec deploy/shell -- llmservice cache list --root /models
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        if root and (all_namespaces or where != Where()):
            message = "asks no cluster: leave out --all-namespaces, --namespace, --context and --kubeconfig"
            raise UsageError("NoCluster", message, field="--root")
        rows = _on_claim(root) if root else _in_cluster(asyncio.run(_services(where, everywhere=all_namespaces)))
    columns = (*(_OF_CLAIM if root else _OF_CLUSTER), *(_WIDE if output == WIDE else ()))
    click.echo(as_data(rows, output) if is_for_programs(output) else _table(rows, columns), nl=False)


async def _services(where: Where, *, everywhere: bool) -> list[dict[str, Any]]:
    async with connected(where) as (connection, namespace):
        return await ApiServer(connection).list("LLMService", "" if everywhere else namespace)


def _in_cluster(bodies: Iterable[Mapping[str, Any]]) -> _Rows:
    """A row for each service with a cache, from what its status says."""
    found = ((body, (body.get("spec") or {}).get("model") or {}) for body in bodies)
    return [_row(body, model) for body, model in found if model.get("cache")]


def _row(body: Mapping[str, Any], model: Mapping[str, Any]) -> dict[str, Any]:
    metadata, status = body["metadata"], body.get("status") or {}
    weights = status.get("weights") or {}
    claim = ((model.get("cache") or {}).get("claim") or {}).get("name") or f"{metadata['name']}-weights"
    return {
        "namespace": metadata.get("namespace", ""),
        "service": metadata["name"],
        "claim": weights.get("claim") or claim,
        "model": str(model.get("uri", "")),
        "revision": weights.get("commit") or str(model.get("revision") or ""),
        "bytes": weights.get("bytes", 0),
        "files": weights.get("files", 0),
        "state": _state(status),
        "changing": _is_changing(status),
        "path": weights.get("path", ""),
        "key": weights.get("key", ""),
    }


def _state(status: Mapping[str, Any]) -> str:
    """The reason of the condition WeightsReady; Unknown before the operator saw the service."""
    return str(_condition(status, "WeightsReady").get("reason") or "Unknown")


def _is_changing(status: Mapping[str, Any]) -> bool:
    """Whether its replicas, or those that it is rolled back to, may load another model than the status names."""
    return any(_condition(status, kind).get("status") == "True" for kind in ("Reconciling", "Stalled"))


def _condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    return next((each for each in status.get("conditions") or () if each.get("type") == kind), {})


def _on_claim(root: Path) -> _Rows:
    claim = cache_claim_at(root)
    present = {file.path for file in claim.files()}
    return [
        {
            "model": download.uri,
            "revision": download.marker.model.commit or download.revision,
            "bytes": download.marker.model.bytes,
            "files": download.marker.model.files,
            "state": "Downloaded" if _is_whole(download.marker, present) else "Incomplete",
            "path": download.marker.model.path,
            "finished": download.finished,
            "key": key,
        }
        for key, download in claim.downloads().items()
    ]


def _is_whole(marker: Any, present: set[str]) -> bool:
    return all(f"{marker.folder}/{file.name}" in present for file in marker.files)


def _table(rows: _Rows, columns: tuple[str, ...]) -> str:
    cells: list[list[object]] = [
        [name.upper() for name in columns],
        *([_cell(row, name) for name in columns] for row in rows),
    ]
    return "".join(f"{line}\n" for line in table(cells)) if rows else "no caches\n"


def _cell(row: Mapping[str, Any], name: str) -> object:
    value = row[name]
    if name == "bytes":
        return f"{value / _GB:.1f} GB" if isinstance(value, int) and value else ""
    return value
