"""A node whose kubelet is played: pods bound to it get the status that their tenant's image could bring about.

Real are the API server, the scheduler and the controllers: pods belong to the ReplicaSets of their Deployments.
"""

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.cluster.fake_nodes import FakeNode, standing
from tests.cluster.kube import Body, Kube, Rejected
from tests.hostile.engines import Engines
from tests.hostile.kubelet import kubelet
from tests.hostile.plays import play_of, status_of

NAME = "hostile"
KEY = "hostile.example/node"
_LEASE_SECONDS = 10.0
_AMOUNTS = {"cpu": "100k", "memory": "1000Ti", "pods": "10k"}


@dataclass(frozen=True, kw_only=True)
class _PlayedNode(FakeNode):
    """A node that names the address and port of its kubelet."""

    kubelet: tuple[str, int]

    def status(self) -> Body:
        """As of any fake node, and where its logs are asked for."""
        address, port = self.kubelet
        where = {
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": self.name}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }
        return {"status": {**super().status()["status"], **where}}


@dataclass(slots=True)
class PlayedNode:
    """Plays the pods bound to the node. `addresses` has the engine of each ready pod, by namespace and name."""

    kube: Kube
    engines: Engines
    seed: str
    addresses: dict[tuple[str, str], str] = field(default_factory=dict)
    plays: dict[tuple[str, str], str] = field(default_factory=dict)
    _seen: set[tuple[str, bool]] = field(default_factory=set)
    _over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Play until the end."""
        with ThreadPoolExecutor(8) as pool:
            while not self._over.is_set():
                with contextlib.suppress(Exception):
                    for pod in self._pods():
                        pool.submit(self._play, pod)

    def renew(self) -> None:
        """Renew the node's lease until the end: without it the node counts as lost."""
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": NAME}}
        while not self._over.wait(_LEASE_SECONDS):
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            spec = {"holderIdentity": NAME, "leaseDurationSeconds": 40, "renewTime": now}
            path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{NAME}"
            with contextlib.suppress(Exception):
                query = "?fieldManager=kubelet&force=true"
                self.kube.request(
                    "PATCH", path + query, {**lease, "spec": spec}, content="application/apply-patch+yaml"
                )

    def end(self) -> None:
        """Play no more."""
        self._over.set()

    def _pods(self) -> Iterator[Body]:
        """The pods of the node as they are and as they become, for half a minute."""
        selector = f"/api/v1/pods?fieldSelector=spec.nodeName%3D{NAME}"
        listing = self.kube.request("GET", selector)
        yield from listing["items"]
        version = listing["metadata"]["resourceVersion"]
        configuration = self.kube.api.configuration
        stream = self.kube.api.rest_client.pool_manager.request(
            "GET",
            f"{configuration.host}{selector}&watch=true&timeoutSeconds=30&resourceVersion={version}",
            preload_content=False,
        )
        with contextlib.closing(stream):
            for line in stream:
                event = json.loads(line)
                if event["type"] == "ERROR" or self._over.is_set():
                    return
                if event["type"] != "DELETED":
                    yield event["object"]

    def _play(self, pod: Body) -> None:
        """One look at a pod; each state is answered once."""
        metadata = pod["metadata"]
        key, leaving = (metadata["namespace"], metadata["name"]), "deletionTimestamp" in metadata
        if (metadata["uid"], leaving) in self._seen:
            return
        self._seen.add((metadata["uid"], leaving))
        kube = self.kube.within(metadata["namespace"])
        if leaving:
            self.addresses.pop(key, None)
            kube.delete("Pod", metadata["name"], grace_seconds=0)
            return
        kind, name = play_of(pod)
        self.plays[key] = name
        if kind == "ready":
            self.addresses[key] = self.engines.listen(name)
        with contextlib.suppress(Rejected):  # it was deleted meanwhile
            status: Mapping[str, Any] = status_of(pod, self.addresses.get(key, ""), self.seed)
            kube.patch("Pod", metadata["name"], {"status": status}, manager="kubelet", sub="status")


@contextmanager
def played_node(kube: Kube, engines: Engines, host: str, folder: Path, seed: str) -> Iterator[PlayedNode]:
    """The node as long as the block runs. `host` is an address of this machine that the API server reaches."""
    everywhere = kube.within("")
    player = PlayedNode(everywhere, engines, seed)
    taint = {"key": KEY, "value": "played", "effect": "NoSchedule"}
    with kubelet(host, folder, player.plays, seed) as port:
        node = _PlayedNode(name=NAME, labels={KEY: "played"}, devices=_AMOUNTS, taints=(taint,), kubelet=(host, port))
        with standing(everywhere, node):
            threads = [threading.Thread(target=work) for work in (player.run, player.renew)]
            for thread in threads:
                thread.start()
            try:
                yield player
            finally:
                player.end()
                for thread in threads:
                    thread.join()
