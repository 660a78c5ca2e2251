"""An API server of a few lines that has a fleet: everything that an operator reads at its start, and nothing to write.

One service with its children is made by the operator's own code on the in-memory cluster, with managed fields, defaults
and a status; the others are copies of it under names of their own. Lists come in pages, as objects or as metadata;
watches stay open and say nothing. Anything else is answered 404, and writes are counted by method.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from pathlib import Path

import orjson
from aiohttp import web

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.kinds import KINDS
from llmservice.converging.intent import digest_of, intent_digest
from llmservice.objects.references import Manifest
from llmservice.rendering.manifests import render
from tests.discovery import discovery_answer
from tests.scenarios.world import World

NAMESPACE = "ml"
_TEMPLATE = "templatename"
_VERSION = "1000000"
_POD_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


def template(pods: int) -> tuple[dict[str, Manifest], dict[str, Manifest]]:
    """One service that serves, by kind: the resource, its children and its first pod; and its children's intents."""
    world = World()
    world.apply(_TEMPLATE, spec__replicas=pods)
    world.reconcile(_TEMPLATE)
    world.roll_out(_TEMPLATE)
    world.reconcile(_TEMPLATE)
    kinds = ("LLMService", "Deployment", "Service", "PodDisruptionBudget")
    found = {kind: world.get(kind, _TEMPLATE) for kind in kinds if world.exists(kind, _TEMPLATE)}
    pod = world.get("Pod", f"{_TEMPLATE}-0")
    found["Pod"] = _full_pod(pod, found["Deployment"])
    plan = world.reconciler.plan(LLMService.parse(found["LLMService"]))
    return found, {intent["kind"]: intent for intent in render(plan, replicas=None)}


def _full_pod(pod: Manifest, deployment: Manifest) -> Manifest:
    """With what a real pod has: the whole spec of its template, conditions, and managed fields."""
    moment = "2026-01-01T00:00:00Z"
    conditions = [{"type": name, "status": "True", "lastTransitionTime": moment} for name in _POD_CONDITIONS]
    spec = {**deployment["spec"]["template"]["spec"], **(pod.get("spec") or {})}
    spec["containers"] = deployment["spec"]["template"]["spec"]["containers"]
    metadata = {**pod["metadata"], "managedFields": deployment["metadata"].get("managedFields", [])}
    status = {**pod.get("status", {}), "conditions": conditions, "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}
    return {**pod, "metadata": metadata, "spec": spec, "status": status}


class Fleet:
    """Lists of any kind for so many services."""

    def __init__(self, services: int, pods: int = 1) -> None:
        found, intents = template(pods)
        self.services = services
        self.texts = {kind: orjson.dumps(body).decode() for kind, body in found.items()}
        self.intents = {kind: orjson.dumps(intent).decode() for kind, intent in intents.items()}
        self.digests = {kind: digest_of(found[kind]) for kind in intents}
        self.asked: Counter[str] = Counter()

    def item(self, kind: str, number: int) -> str:
        """The body of one service: with names, UIDs and digests of its own."""
        text = _renamed(self.texts[kind], number)
        if kind in self.intents:
            text = text.replace(self.digests[kind], intent_digest(orjson.loads(_renamed(self.intents[kind], number))))
        return text

    def page(self, kind: str, start: int, limit: int, *, metadata_only: bool) -> bytes:
        """One page of a list."""
        end = min(self.services, start + limit) if kind in self.texts else start
        texts = [self.item(kind, number) for number in range(start, end)]
        if metadata_only:
            texts = [orjson.dumps({"metadata": orjson.loads(text)["metadata"]}).decode() for text in texts]
        more = f',"continue":"{end}"' if kind in self.texts and end < self.services else ""
        return f'{{"metadata":{{"resourceVersion":"{_VERSION}"{more}}},"items":[{",".join(texts)}]}}'.encode()


def _renamed(text: str, number: int) -> str:
    uid = f"00000000-0000-4000-{8000 + number // 1000:04d}-{number % 1000:03d}"
    return text.replace(_TEMPLATE, f"chat-{number:06d}").replace("00000000-0000-4000-8000-000", uid)


async def handle(request: web.Request) -> web.StreamResponse:
    """Answer as an API server does, as far as an operator asks."""
    fleet: Fleet = request.app["fleet"]
    fleet.asked[request.method] += 1
    if request.path == "/asked":
        return web.json_response(fleet.asked)
    if (body := discovery_answer(request.path)) is not None:
        return web.json_response(body)
    plural = request.path.rpartition("/")[2]
    kind = next((kind for kind, known in KINDS.items() if known.plural == plural), "")
    if request.method != "GET" or not kind:
        return web.json_response({"kind": "Status", "code": 404, "reason": "NotFound", "message": "no"}, status=404)
    if "watch" in request.query:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await asyncio.sleep(3600)
        return response
    start, limit = int(request.query.get("continue") or 0), int(request.query.get("limit") or 10**9)
    metadata_only = "PartialObjectMetadata" in request.headers.get("Accept", "")
    page = fleet.page(kind, start, limit, metadata_only=metadata_only)
    return web.Response(body=page, content_type="application/json")


def kubeconfig(server: str) -> str:
    """One without credentials."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "fleet", "cluster": {"server": server}}],
            "users": [{"name": "nobody", "user": {}}],
            "contexts": [{"name": "fleet", "context": {"cluster": "fleet", "user": "nobody"}}],
            "current-context": "fleet",
        }
    )


def main() -> None:
    """Serve so many services on a port of loopback: `fleet_server.py SERVICES PORT`."""
    services, port = map(int, sys.argv[1:])
    os.nice(5)
    application = web.Application()
    application["fleet"] = Fleet(services)
    application.router.add_route("*", "/{path:.*}", handle)
    web.run_app(application, host="127.0.0.1", port=port, print=None)


if __name__ == "__main__":
    main()
