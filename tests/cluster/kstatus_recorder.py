"""Every state that LLMServices, their Deployments and pods go through while tests run, in the order of the cluster.

Each kind is watched from its first list on. Revisions of one cluster are whole numbers that only grow, whatever the
kind, so the three streams merge into one history; what it must not hold stands in `kstatus_rules`.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import urllib3

from llmservice.cluster.kinds import KINDS
from llmservice.objects.names import NAME_LABEL
from tests.cluster.kstatus_rules import Moment, problems
from tests.cluster.kube import Kube, Rejected

_SELECTORS = {"LLMService": "", "Deployment": NAME_LABEL, "Pod": NAME_LABEL}
_WATCH_SECONDS = 3
_PAUSE_SECONDS = 0.2
_LOST = (Rejected, urllib3.exceptions.HTTPError, OSError, ValueError)
"""An API server that restarts, a CRD that is gone for a while, half a line: listed again."""


@dataclass
class Recorder:
    """Watches in threads of its own until it is told to stop."""

    cluster: Kube
    moments: list[Moment] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Begin with what is there."""
        self._threads = [threading.Thread(target=self._follow, args=(kind,), daemon=True) for kind in _SELECTORS]
        for thread in self._threads:
            thread.start()

    def stop(self) -> list[Moment]:
        """End the watches; returns the history."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        return sorted(self.moments, key=lambda moment: moment.revision)

    def _follow(self, kind: str) -> None:
        while not self._over.is_set():
            try:
                revision = self._list(kind)
                while revision and not self._over.is_set():
                    revision = self._watch(kind, revision)
            except _LOST:
                self._over.wait(_PAUSE_SECONDS)

    def _list(self, kind: str) -> str:
        listed = self.cluster.request("GET", f"{KINDS[kind].collection()}?labelSelector={_SELECTORS[kind]}")
        for body in listed["items"]:
            self.moments.append(Moment(kind, body))
        return str(listed["metadata"]["resourceVersion"])

    def _watch(self, kind: str, revision: str) -> str:
        """Follow for a while; returns where to go on, or nothing when only a list can tell."""
        where = f"watch=1&resourceVersion={revision}&timeoutSeconds={_WATCH_SECONDS}"
        path = f"{KINDS[kind].collection()}?labelSelector={_SELECTORS[kind]}&{where}"
        for line in _lines(self.cluster, path):
            event = json.loads(line)
            if event["type"] == "ERROR":
                return ""
            revision = event["object"]["metadata"]["resourceVersion"]
            self.moments.append(Moment(kind, event["object"], deleted=event["type"] == "DELETED"))
        return revision


def _lines(cluster: Kube, path: str) -> Iterator[bytes]:
    """An answer line by line, as it comes."""
    configuration = cluster.api.configuration
    token = configuration.get_api_key_with_prefix("authorization")
    response: urllib3.BaseHTTPResponse = cluster.api.rest_client.pool_manager.request(
        "GET",
        configuration.host + path,
        headers={"Authorization": token} if token else {},
        timeout=urllib3.Timeout(connect=5, read=2 * _WATCH_SECONDS + 5),
        preload_content=False,
    )
    try:
        if response.status >= 400:
            raise Rejected(response.status, response.data.decode())
        rest = b""
        for chunk in response.stream(None):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
    finally:
        response.close()


@contextmanager
def recorded(cluster: Kube) -> Iterator[None]:
    """Whatever happens inside, kstatus is right at every moment of it."""
    recorder = Recorder(cluster)
    recorder.start()
    try:
        yield
    finally:
        history = recorder.stop()
    found = problems(history)
    assert not found, "\n".join(found[:20])
