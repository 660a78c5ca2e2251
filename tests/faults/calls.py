"""What a request to the API server means: verb, resource, names, and whose object it writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
WRITES = frozenset({"create", "update", "patch", "delete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request, in the words of Kubernetes: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`."""

    verb: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_write(self) -> bool:
        """Whether it changes an object of a user; leases and events are the operator's own affair."""
        return self.verb in WRITES and self.resource not in {"leases", "events"}

    @property
    def uid(self) -> str:
        """The precondition: UID of the only object it may change; empty when any of this name will do."""
        return str((self.body.get("metadata") or self.body.get("preconditions") or {}).get("uid", ""))

    @property
    def owner(self) -> str:
        """UID of the LLMService it is written for, where the body names one."""
        if self.resource == "llmservices":
            return self.uid
        metadata = self.body.get("metadata") or {}
        return str(next((item["uid"] for item in metadata.get("ownerReferences") or ()), ""))

    def __str__(self) -> str:
        return " ".join(filter(None, (self.verb, self.resource, self.subresource, self.name)))


def call_of(method: str, target: str, body: bytes = b"") -> Call:
    """The call that a request line and its body make."""
    url = urlsplit(target)
    # api/v1/… or apis/GROUP/VERSION/…, then namespaces/NAMESPACE for what lies in one
    parts = [part for part in url.path.split("/") if part]
    rest = parts[2:] if parts[:1] == ["api"] else parts[3:]
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = [*rest, "", "", ""][:3]
    written = yaml.safe_load(body) if body else {}
    return Call(
        verb=_VERBS.get(method) or _reading(url.query, name),
        resource=resource,
        namespace=namespace,
        name=name,
        subresource=subresource,
        body=written if isinstance(written, dict) else {},
    )


def _reading(query: str, name: str) -> str:
    if parse_qs(query).get("watch", [""])[0] in {"true", "1"}:
        return "watch"
    return "get" if name else "list"
