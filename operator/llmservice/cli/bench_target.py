"""What is loaded: an LLMService by its name, through its Service, or any server that speaks OpenAI's protocol."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.bench.job import KeySecret
from llmservice.cli.bench_asking import first_model
from llmservice.cli.bench_server import Server
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
from llmservice.untrusted.texts import in_a_line

_SAID = 400


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
        yield Endpoint(title=url, url=url, model=model or await first_model(Server(url=url, key=key, title=url)))
        return
    _refuse_half_an_address(target)
    async with connected(where) as (connection, space):
        server = ApiServer(connection)
        body = await service_named(server, space, target)
        if not os.environ.get("KUBECONFIG") and (SERVICE_ACCOUNT / "token").exists():
            yield Endpoint(url=_address(body), **_facts(body, model))
            return
        service = await _service_of(server, space, target)
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
    _refuse_half_an_address(target)
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


def _refuse_half_an_address(target: str) -> None:
    """A name has no colon and no slash; `ml/chat` is what other output calls a service."""
    space, slash, name = target.partition("/")
    if ":" in target or (slash and "." in space):
        raise UsageError(
            "InvalidAddress", f"{target}: is no name of a service: an address begins with http:// or https://"
        )
    if slash:
        raise UsageError("InvalidName", f"{target}: give the name alone, and the namespace by -n {space}: {name}")


async def _service_of(server: ApiServer, space: str, name: str) -> Manifest:
    service = await server.get(Ref(kind="Service", namespace=space, name=name))
    if service is None:
        raise NotFound("NotFound", f"{space}/{name} has no Service yet: wait, or see: {_status_of(space, name)}")
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
        space, name = body["metadata"]["namespace"], body["metadata"]["name"]
        raise NotYet("NoAddress", f"{space}/{name} has no address yet: wait, or see: {_status_of(space, name)}")
    return base(url)


def _keys_of(body: Manifest) -> KeySecret | None:
    reference = (body["spec"].get("auth") or {}).get("keysSecretRef")
    return KeySecret(name=reference["name"], entry=reference.get("key") or "") if reference else None


async def _ready(server: ApiServer, body: Manifest) -> list[Manifest]:
    """Its replicas that serve, at least one."""
    pods = [pod for pod in await replicas_of(server, body) if is_ready(pod)]
    if not pods:
        space, name = body["metadata"]["namespace"], body["metadata"]["name"]
        raise NotYet("NoReplica", f"no replica of {space}/{name} is ready: {_why_none(body)}")
    return pods


def _why_none(body: Manifest) -> str:
    """What its status says of it, and the way to a replica."""
    space, name = body["metadata"]["namespace"], body["metadata"]["name"]
    if body["metadata"].get("deletionTimestamp"):
        return "it is being deleted"
    conditions: list[Manifest] = (body.get("status") or {}).get("conditions") or []
    ready = next((each for each in conditions if each["type"] == "Ready"), {})
    reason = str(ready.get("reason") or "")
    if reason == Reason.ASLEEP:
        return f"it sleeps; wake it: {program()} wake {name} -n {space}"
    said = in_a_line(f"{reason}: {ready.get('message') or ''}", _SAID)
    return f"{said}; see: {_status_of(space, name)}" if reason else f"wait, or see: {_status_of(space, name)}"


def _status_of(space: str, name: str) -> str:
    return f"{program()} status {name} -n {space}"


def _port(service: Manifest, pod: Manifest) -> int:
    """The pod's port behind the first of the Service."""
    wanted = service["spec"]["ports"][0].get("targetPort")
    if isinstance(wanted, int):
        return wanted
    containers = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    ports = (port for container in containers for port in container.get("ports") or ())
    return next(int(port["containerPort"]) for port in ports if port.get("name") == wanted)
