"""The two clusters a contract is tried on, and the hands of somebody else in each."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.cluster import Cluster
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.objects.references import Manifest, Ref, ref_of, uid_of
from tests.in_memory_cluster.cluster import InMemoryCluster

Patch = Callable[..., Awaitable[None]]
Create = Callable[[Manifest], Awaitable[Manifest]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A cluster, a namespace of one's own in it, and the hands of somebody else: a merge patch, and a POST."""

    cluster: Cluster
    namespace: str
    patch: Patch
    create: Create

    def service(self, name: str = "chat", **metadata: Any) -> Manifest:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"namespace": self.namespace, "name": name, **metadata},
            "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
        }

    def deployment(self, name: str = "chat", *, container: Mapping[str, Any] | None = None, **spec: Any) -> Manifest:
        """Paused, so that no controller makes pods of it."""
        template = {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [container or {"name": "engine", "image": "registry.test/engine:1"}]},
        }
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"namespace": self.namespace, "name": name},
            "spec": {"paused": True, "selector": {"matchLabels": {"app": name}}, "template": template, **spec},
        }

    async def apply(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Make it, or apply to what has its name by now: what a level-triggered writer ends up doing."""
        if await self.cluster.get(ref_of(manifest)) is None:
            return await self.cluster.apply_new(manifest, manager=manager)
        return await self.cluster.apply(await self.known(manifest), manager=manager)

    async def known(self, manifest: Manifest) -> Manifest:
        """The manifest with the UID of the live object."""
        ref = ref_of(manifest)
        return {**manifest, "metadata": {**manifest["metadata"], "uid": uid_of(await self.live(ref.kind, ref.name))}}

    def ref(self, kind: str = "Deployment", name: str = "chat") -> Ref:
        return Ref(kind, self.namespace, name)

    async def live(self, kind: str = "Deployment", name: str = "chat") -> Manifest:
        live = await self.cluster.get(self.ref(kind, name))
        assert live is not None
        return live

    async def replicas(self) -> int:
        return int((await self.live())["spec"]["replicas"])


def in_memory() -> Subject:
    """The cluster in a dict."""
    cluster = InMemoryCluster()

    async def create(manifest: Manifest) -> Manifest:
        return cluster.create(manifest)

    return Subject(cluster=cluster, namespace="contract", patch=_patch_in_memory(cluster), create=create)


@asynccontextmanager
async def behind_an_api_server(kubeconfig: Path) -> AsyncIterator[Subject]:
    """The real cluster of this kubeconfig, in a namespace that goes afterwards."""
    namespace = f"contract-{uuid4().hex[:8]}"
    async with connect(await load_credentials(kubeconfig=str(kubeconfig))) as connection:
        await connection.call("POST", "/api/v1/namespaces", body={"metadata": {"name": namespace}})

        async def create(manifest: Manifest) -> Manifest:
            return await connection.call("POST", KINDS[manifest["kind"]].collection(namespace), body=manifest)

        patch = _patch_api_server(connection)
        yield Subject(cluster=ApiServer(connection), namespace=namespace, patch=patch, create=create)
        await connection.call("DELETE", f"/api/v1/namespaces/{namespace}")


def _patch_in_memory(cluster: InMemoryCluster) -> Patch:
    async def patch(ref: Ref, body: Manifest, *, manager: str = "kubectl-edit", subresource: str = "") -> None:
        cluster.edit(ref, lambda live: _merge(live, body), manager=manager, subresource=subresource)

    return patch


def _patch_api_server(connection: Connection) -> Patch:
    async def patch(ref: Ref, body: Manifest, *, manager: str = "kubectl-edit", subresource: str = "") -> None:
        target = KINDS[ref.kind].item(ref.namespace, ref.name, subresource)
        media_type = "application/merge-patch+json"
        await connection.call("PATCH", f"{target}?fieldManager={manager}", body=body, content_type=media_type)

    return patch


def _merge(live: dict[str, Any], body: Mapping[str, Any]) -> None:
    for key, value in body.items():
        if isinstance(value, Mapping):
            _merge(live.setdefault(key, {}), value)
        else:
            live[key] = value
