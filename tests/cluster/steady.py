"""Services that must stay Ready, and every state they were in meanwhile."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from llmservice.cluster.kinds import KINDS
from tests.cluster.kube import Body, Kube, condition_of
from tests.cluster.services import a_tiny_service


@dataclass(kw_only=True)
class Steady:
    """LLMServices of one namespace. `look` reads on where the last look ended, so no state between two is missed."""

    kube: Kube
    count: int
    seen: int = 0
    lapses: list[str] = field(default_factory=list)
    _version: str = ""

    def start(self) -> None:
        """Create them and wait until all are Ready."""
        for number in range(self.count):
            self.kube.create(a_tiny_service(f"steady-{number}"))
        for number in range(self.count):
            self.kube.wait_ready(f"steady-{number}")
        self._version = self._listed()[0]

    def look(self) -> None:
        """Take in every state since the last look; fails when the API server no longer knows them."""
        version, bodies = self._listed()
        assert len(bodies) == self.count
        for body in self._states_since(self._version):
            self.seen += 1
            if condition_of(body, "Ready").get("status") != "True":
                self.lapses.append(f"{body['metadata']['name']}: {condition_of(body, 'Ready')}")
        self._version = version

    def _listed(self) -> tuple[str, list[Body]]:
        listing = self.kube.request("GET", self._path())
        return listing["metadata"]["resourceVersion"], listing["items"]

    def _states_since(self, version: str) -> Iterator[Body]:
        query = f"?watch=true&resourceVersion={version}&timeoutSeconds=1"
        for line in self.kube.kubectl("get", "--raw", self._path() + query).splitlines():
            event = json.loads(line)
            assert event["type"] == "MODIFIED", event
            yield event["object"]

    def _path(self) -> str:
        return KINDS["LLMService"].collection(self.kube.namespace)
