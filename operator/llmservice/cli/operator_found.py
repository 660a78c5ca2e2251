"""The planner that the operator of a cluster has: its settings, its catalogue and its platform, read from the cluster.

Settings are the variables of the leader's pod, which the Lease names. Read with the rights of the caller: `get` leases,
pods and configmaps in the operator's namespace, and `list` nodes for the platform, which is left to the setting where
they may not be listed.
"""

from collections.abc import Mapping
from typing import Any

from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.overlay import overlaid
from llmservice.cli.connecting import connected
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.listing import node_label_keys
from llmservice.errors import Refused, Unavailable
from llmservice.objects.names import CATALOGUE, LEASE
from llmservice.objects.references import Manifest, Ref
from llmservice.planning.network import MetricsReaders
from llmservice.reconcilers.planner import CataloguePlanner, registry_settings
from llmservice.settings import VARIABLES, Settings, settings_from

_NAMES = {variable.name for variable in VARIABLES}
_WAY_OUT = "give --settings and --catalogue instead"


async def planner_at(where: Where, namespace: str) -> CataloguePlanner:
    """Likewise, of the cluster that the options name; raises what `planner_found` raises."""
    async with connected(where) as (connection, _):
        return await planner_found(connection, namespace)


async def planner_found(connection: Connection, namespace: str) -> CataloguePlanner:
    """The planner of the operator in this namespace.

    Raises `Refused` and `Unavailable`, the latter also where there is no operator or it runs outside the cluster, and
    `InvalidInput` for what it is told and cannot use.
    """
    server = ApiServer(connection)
    settings = settings_from(_variables(await _leader(server, namespace)))
    rows = await _rows(server, Ref("ConfigMap", *(settings.catalogue or (namespace, CATALOGUE))))
    return CataloguePlanner(
        rows,
        registry_settings(settings),
        platform=await _platform(connection, rows, settings),
        readers=MetricsReaders(monitoring=settings.monitoring_namespace),
    )


async def _leader(server: ApiServer, namespace: str) -> Manifest:
    lease = await server.get(Ref("Lease", namespace, LEASE))
    holder = str(((lease or {}).get("spec") or {}).get("holderIdentity") or "").rpartition("_")[0]
    pod = await server.get(Ref("Pod", namespace, holder)) if holder else None
    if pod is None:
        why = f"no Lease {namespace}/{LEASE}" if lease is None else "it runs outside the cluster, or is away"
        raise Unavailable("NoOperator", f"the operator's settings cannot be read: {why}; {_WAY_OUT}")
    return pod


def _variables(pod: Manifest) -> Mapping[str, str]:
    containers: list[dict[str, Any]] = (pod.get("spec") or {}).get("containers") or [{}]
    variables = containers[0].get("env") or ()
    return {each["name"]: str(each["value"]) for each in variables if each.get("name") in _NAMES and "value" in each}


async def _rows(server: ApiServer, ref: Ref) -> Catalogue:
    found = await server.get(ref)
    return load_catalogue() if found is None else overlaid(found.get("data") or {})


async def _platform(connection: Connection, rows: Catalogue, settings: Settings) -> str:
    try:
        return rows.platform_of(await node_label_keys(connection)) or settings.platform
    except Refused:
        return settings.platform
