"""Which listeners of a Gateway admit a route: the rules of the Gateway API, as far as the stand-in follows them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.cluster.kube import Body

CLASS = "stand-in"


@dataclass(frozen=True)
class Listener:
    """A listener of a Gateway, and the path of what TLS shows; empty for plain HTTP."""

    gateway: str
    namespace: str
    body: Body
    certificate: str = ""

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.body["port"])


@dataclass(frozen=True)
class Verdict:
    """What is said of a route for one parent: `reason` is Accepted where `listeners` took it."""

    reason: str
    message: str
    listeners: tuple[Listener, ...] = ()


def verdict_on(
    route: Body, ref: Body, listeners: list[Listener], namespaces: Mapping[str, Mapping[str, str]]
) -> Verdict:
    """Whether a parent takes the route; `namespaces` are labels by name."""
    own = route["metadata"]["namespace"]
    mine = [each for each in listeners if (each.namespace, each.gateway) == (ref.get("namespace", own), ref["name"])]
    if "sectionName" in ref:
        mine = [each for each in mine if each.body["name"] == ref["sectionName"]]
    if "port" in ref:
        mine = [each for each in mine if each.port == ref["port"]]
    if not mine:
        return Verdict("NoMatchingParent", "no listener of this name and port")
    admitting = [each for each in mine if _admits(each, own, namespaces.get(own, {}))]
    if not admitting:
        return Verdict("NotAllowedByListeners", f"no listener allows routes of namespace {own}")
    matching = [each for each in admitting if list(hostnames(route, each))]
    if not matching:
        return Verdict("NoMatchingListenerHostname", "no listener has one of its hostnames")
    return Verdict("Accepted", "", tuple(matching))


def hostnames(route: Body, listener: Listener) -> Iterator[str]:
    """The hostnames by which a listener leads to a route; empty text is any."""
    theirs, ours = listener.body.get("hostname", ""), route["spec"].get("hostnames") or [""]
    for name in ours:
        if not name or not theirs or name == theirs or (theirs.startswith("*.") and name.endswith(theirs[1:])):
            yield name or theirs


def _admits(listener: Listener, namespace: str, labels: Mapping[str, str]) -> bool:
    rule = (listener.body.get("allowedRoutes") or {}).get("namespaces") or {}
    if rule.get("from", "Same") == "Selector":
        wanted: Mapping[str, str] = rule["selector"].get("matchLabels") or {}
        return wanted.items() <= labels.items()
    return rule.get("from", "Same") == "All" or namespace == listener.namespace
