"""What is loaded: an LLMService by its name, through its Service, or any server that speaks OpenAI's protocol."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from llmservice.bench.job import KeySecret
from llmservice.cli.bench_asking import first_model
from llmservice.cli.connecting import connected
from llmservice.cli.own_objects import replicas_of, service_named
from llmservice.cli.program import program
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.port_forward import forwarded
from llmservice.cluster.transport.credentials import SERVICE_ACCOUNT
from llmservice.errors import NotFound, NotYet, UsageError
from llmservice.objects.pods import is_ready
from llmservice.objects.references import Manifest, Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A base URL without `/v1`, the model to ask for, and what to call it; `slots` of all its replicas, if known.

    `keys` is where the keys of a service's clients lie, None where it asks for none or nobody knows.
    """

    title: str
    url: str
    model: str
    slots: int | None = None
    replicas: int | None = None
    keys: KeySecret | None = None


@asynccontextmanager
async def endpoint(target: str, where: Where, model: str, key: str) -> AsyncIterator[Endpoint]:
    """The target, reachable while the block lasts. Raises what is in the way of it, with the way out."""
    if "://" in target:
        url = base(target)
        yield Endpoint(title=url, url=url, model=model or await first_model(url, key))
        return
    async with connected(where) as (connection, space):
        server = ApiServer(connection)
        body = await service_named(server, space, target)
        if not os.environ.get("KUBECONFIG") and (SERVICE_ACCOUNT / "token").exists():
            yield Endpoint(url=_address(body), **_facts(body, model))
            return
        service = await server.get(Ref(kind="Service", namespace=space, name=target))
        if service is None:
            raise NotFound(
                "NotFound", f"{space}/{target} has no Service yet: wait, or see: {program()} status {target}"
            )
        pods = await _ready(server, body)
        names = [pod["metadata"]["name"] for pod in pods]
        async with forwarded(connection, space, names, _port(service, pods[0])) as url:
            yield Endpoint(url=url, replicas=len(names), **_facts(body, model))


async def endpoint_within(server: ApiServer, space: str, target: str, model: str) -> Endpoint:
    """The same for a pod in the cluster, which reaches the Service by its cluster IP; a URL is taken as it is.

    The model of a URL may stay empty: the pod asks for it.
    """
    if "://" in target:
        url = base(target)
        return Endpoint(title=url, url=url, model=model)
    body = await service_named(server, space, target)
    pods = await _ready(server, body)
    url = _cluster_address(await _service_of(server, space, target))
    return Endpoint(url=url or _address(body), replicas=len(pods), keys=_keys_of(body), **_facts(body, model))


def base(url: str) -> str:
    """Without the path that is added to each request."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise UsageError("InvalidAddress", f"{url}: {error}") from error
    if parts.scheme not in {"http", "https"} or not host or parts.query or parts.username:
        raise UsageError("InvalidAddress", "give an address such as http://chat.ml.svc, without user, key and query")
    return url.rstrip("/").removesuffix("/v1").rstrip("/")


async def _service_of(server: ApiServer, space: str, name: str) -> Manifest:
    service = await server.get(Ref(kind="Service", namespace=space, name=name))
    if service is None:
        raise NotFound("NotFound", f"{space}/{name} has no Service yet: wait, or see: {program()} status {name}")
    return service


def _cluster_address(service: Manifest) -> str:
    """By its cluster IP: each request has a connection of its own, and a look-up of a name would be in its figures."""
    address, port = service["spec"].get("clusterIP"), service["spec"]["ports"][0]["port"]
    if not address or address == "None":
        return ""
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def _facts(body: Manifest, model: str) -> dict[str, Any]:
    name, slots = body["metadata"]["name"], (body.get("status") or {}).get("plan", {}).get("maxNumSeqs")
    return {"title": f"{body['metadata']['namespace']}/{name}", "model": model or name, "slots": slots}


def _address(body: Manifest) -> str:
    url = (body.get("status") or {}).get("url")
    if not url:
        name = body["metadata"]["name"]
        raise NotYet("NoAddress", f"{name} has no address yet: wait, or see: {program()} status {name}")
    return base(url)


def _keys_of(body: Manifest) -> KeySecret | None:
    reference = (body["spec"].get("auth") or {}).get("keysSecretRef")
    return KeySecret(name=reference["name"], entry=reference.get("key") or "") if reference else None


async def _ready(server: ApiServer, body: Manifest) -> list[Manifest]:
    """Its replicas that serve, at least one."""
    pods = [pod for pod in await replicas_of(server, body) if is_ready(pod)]
    if not pods:
        space, name = body["metadata"]["namespace"], body["metadata"]["name"]
        raise NotYet("NoReplica", f"no replica of {space}/{name} is ready: wait, or see: {program()} status {name}")
    return pods


def _port(service: Manifest, pod: Manifest) -> int:
    """The pod's port behind the first of the Service."""
    wanted = service["spec"]["ports"][0].get("targetPort")
    if isinstance(wanted, int):
        return wanted
    containers = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    ports = (port for container in containers for port in container.get("ports") or ())
    return next(int(port["containerPort"]) for port in ports if port.get("name") == wanted)
