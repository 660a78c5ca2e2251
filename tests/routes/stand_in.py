"""A stand-in for a gateway's controller, because none can be built here: it follows HTTPRoutes by Debian's HAProxy.

It reads GatewayClasses by name, Gateways, HTTPRoutes and namespaces, writes the status of both as the Gateway API asks
for, and has HAProxy listen on loopback, TLS included. It knows Services and prefixes of paths; it knows no
InferencePools and no timeouts, and says so as a real controller does.
"""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.kube import Body, Kube, Rejected
from tests.routes.haproxy_config import Way, configuration
from tests.routes.listeners import CLASS, Listener, Verdict, hostnames, verdict_on

CONTROLLER = "llmservice.test/stand-in"
_EVERY_SECONDS = 0.25
_GROUP = "/apis/gateway.networking.k8s.io/v1"


@dataclass
class StandIn:
    """The controller and its HAProxy; `certificates` are PEM files by "namespace/secret"."""

    kube: Kube
    folder: Path
    certificates: dict[str, Path]
    problem: BaseException | None = None
    _ends: threading.Event = field(default_factory=threading.Event)
    _proxy: subprocess.Popen[bytes] | None = None
    _config: str = ""

    @contextmanager
    def running(self) -> Iterator["StandIn"]:
        """Until the block ends."""
        thread = threading.Thread(target=self._follow, name="stand-in gateway")
        thread.start()
        try:
            yield self
        finally:
            self._ends.set()
            thread.join()
            if self._proxy is not None:
                self._proxy.terminate()
                self._proxy.wait(30)
        if self.problem is not None:
            raise self.problem

    def _follow(self) -> None:
        try:
            while not self._ends.wait(_EVERY_SECONDS):
                with suppress(Rejected):  # the kinds may not be there yet, or somebody wrote in between
                    self._once()
        except BaseException as problem:  # noqa: BLE001  (told at the end of the block)
            self.problem = problem

    def _once(self) -> None:
        listeners = [each for gateway in self._all("gateways") for each in self._listeners_of(gateway)]
        namespaces = {
            each["metadata"]["name"]: each["metadata"].get("labels") or {}
            for each in self.kube.request("GET", "/api/v1/namespaces")["items"]
        }
        routes = sorted(self._all("httproutes"), key=_age)
        ways = [way for route in routes for way in self._ways(route, listeners, namespaces)]
        self._serve(configuration(ways, [(each.port, each.certificate) for each in listeners]))

    def _all(self, plural: str) -> list[Body]:
        found: list[Body] = self.kube.request("GET", f"{_GROUP}/{plural}")["items"]
        return [each for each in found if "deletionTimestamp" not in each["metadata"]]

    def _listeners_of(self, gateway: Body) -> Iterator[Listener]:
        if gateway["spec"]["gatewayClassName"] != CLASS:
            return
        metadata = gateway["metadata"]
        self._say("gateways", gateway, {"conditions": [_condition(gateway, "Programmed", "Programmed")]})
        for each in gateway["spec"]["listeners"]:
            refs = (each.get("tls") or {}).get("certificateRefs") or ()
            files = [str(self.certificates[f"{metadata['namespace']}/{ref['name']}"]) for ref in refs]
            yield Listener(metadata["name"], metadata["namespace"], each, files[0] if files else "")

    def _ways(self, route: Body, listeners: list[Listener], namespaces: dict[str, dict[str, str]]) -> Iterator[Way]:
        """Where a route leads from; its status is written on the way."""
        known = {(each.namespace, each.gateway) for each in listeners}
        own, parents = route["metadata"]["namespace"], []
        for ref in route["spec"]["parentRefs"]:
            if (ref.get("namespace", own), ref["name"]) not in known:
                continue
            verdict, server = self._judged(route, ref, listeners, namespaces), self._server(route)
            parents.append(_parent(route, ref, verdict, server))
            if verdict.reason == "Accepted" and server:
                yield from _ways_by(route, verdict, server)
        if parents or (route.get("status") or {}).get("parents"):
            self._say("httproutes", route, {"parents": parents})

    def _judged(
        self, route: Body, ref: Body, listeners: list[Listener], namespaces: dict[str, dict[str, str]]
    ) -> Verdict:
        timeouts = [rule.get("timeouts") or {} for rule in route["spec"]["rules"]]
        if any(value != "0s" for each in timeouts for value in each.values()):
            return Verdict("UnsupportedValue", "timeouts other than 0s are not supported")
        return verdict_on(route, ref, listeners, namespaces)

    def _server(self, route: Body) -> str:
        """Address and port of the Service; empty where there is none that is known."""
        (backend,) = route["spec"]["rules"][0]["backendRefs"]
        if backend.get("kind", "Service") != "Service":
            return ""
        service = self.kube.within(route["metadata"]["namespace"]).get("Service", backend["name"])
        return f"{service['spec']['clusterIP']}:{backend['port']}" if service else ""

    def _say(self, plural: str, body: Body, status: Body) -> None:
        """Write a status that is news."""
        if (body.get("status") or {}) | status == (body.get("status") or {}):
            return
        metadata = body["metadata"]
        path = f"{_GROUP}/namespaces/{metadata['namespace']}/{plural}/{metadata['name']}/status"
        self.kube.request("PATCH", path, {"status": status}, content="application/merge-patch+json")

    def _serve(self, config: str) -> None:
        """Have HAProxy follow: what it has begun goes on in its old process."""
        if config == self._config:
            return
        file = self.folder / "haproxy.cfg"
        file.write_text(config)
        self._config = config
        if self._proxy is not None:
            self._proxy.send_signal(12)  # SIGUSR2
            return
        program = shutil.which("haproxy") or "/usr/sbin/haproxy"
        with (self.folder / "haproxy.log").open("ab") as log:
            self._proxy = subprocess.Popen([program, "-W", "-f", str(file)], stdout=log, stderr=log)  # noqa: S603


def _age(route: Body) -> tuple[str, str, str]:
    metadata = route["metadata"]
    return metadata["creationTimestamp"], metadata["namespace"], metadata["name"]


def _ways_by(route: Body, verdict: Verdict, server: str) -> Iterator[Way]:
    (rule,) = route["spec"]["rules"]
    rewrites = [each["urlRewrite"]["path"]["replacePrefixMatch"] for each in rule.get("filters") or ()]
    name = f"{route['metadata']['namespace']}-{route['metadata']['name']}"
    for listener in verdict.listeners:
        for host in hostnames(route, listener):
            for match in rule["matches"]:
                yield Way(
                    port=listener.port,
                    certificate=listener.certificate,
                    host=host,
                    path=match["path"]["value"],
                    replaced=rewrites[0] if rewrites else None,
                    server=server,
                    name=name,
                )


def _parent(route: Body, ref: Body, verdict: Verdict, server: str) -> Body:
    resolved = ("ResolvedRefs", "") if server else ("InvalidKind", "only Services are supported")
    return {
        "parentRef": ref,
        "controllerName": CONTROLLER,
        "conditions": [
            _condition(route, "Accepted", verdict.reason, verdict.message),
            _condition(route, "ResolvedRefs", *resolved),
        ],
    }


def _condition(body: Body, kind: str, reason: str, message: str = "") -> Body:
    return {
        "type": kind,
        "status": "True" if reason == kind else "False",
        "reason": reason,
        "message": message,
        "observedGeneration": body["metadata"]["generation"],
        "lastTransitionTime": body["metadata"]["creationTimestamp"],
    }
