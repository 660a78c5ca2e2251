"""What the cluster tests do to a cluster as its users: plain requests, and waiting with the last state in the error."""

import dataclasses
import json
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import urllib3
from kubernetes import client, config

from llmservice.cluster.kinds import KINDS, Kind

Body = dict[str, Any]
Answer = TypeVar("Answer")

MORE_KINDS = {
    kind.kind: kind
    for kind in (
        Kind("v1", "Secret", "secrets"),
        Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
        Kind("v1", "ResourceQuota", "resourcequotas"),
        Kind("apps/v1", "ReplicaSet", "replicasets"),
        Kind("gateway.networking.k8s.io/v1", "Gateway", "gateways"),
        Kind("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
    )
}
PATCHES = {
    "merge": "application/merge-patch+json",
    "apply": "application/apply-patch+yaml",
    "json": "application/json-patch+json",
}


class Rejected(Exception):
    """The API server said no; the text is its own."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


@dataclass(frozen=True)
class Kube:
    """One namespace of a real cluster."""

    api: client.ApiClient
    kubectl_path: Path
    kubeconfig: Path
    context: str = ""
    namespace: str = ""

    @classmethod
    def connect(cls, kubeconfig: Path, kubectl: Path, context: str = "") -> "Kube":
        """A client for the cluster of this kubeconfig, or of one context in it."""
        api = config.new_client_from_config(  # type: ignore[no-untyped-call]  # it has no types
            str(kubeconfig), context=context or None
        )
        return cls(api, kubectl, kubeconfig, context)

    def within(self, namespace: str) -> "Kube":
        """The same cluster, another namespace."""
        return dataclasses.replace(self, namespace=namespace)

    def request(self, method: str, path: str, body: object = None, *, content: str = "application/json") -> Body:
        """One request; raises Rejected."""
        configuration = self.api.configuration
        response: urllib3.BaseHTTPResponse = self.api.rest_client.pool_manager.request(
            method,
            configuration.host + path,
            body=None if body is None else json.dumps(body),
            headers={"Content-Type": content, "Accept": "application/json", **self._authorization()},
            timeout=30,
        )
        if response.status >= 400:
            raise Rejected(response.status, response.data.decode())
        return json.loads(response.data) if response.data else {}

    def get(self, kind: str, name: str) -> Body | None:
        """The object, or None."""
        try:
            return self.request("GET", self._item(kind, name))
        except Rejected as rejected:
            if rejected.status == 404:
                return None
            raise

    def list(self, kind: str, selector: str = "") -> list[Body]:
        """The objects of a kind in the namespace."""
        query = f"?labelSelector={selector}" if selector else ""
        items: list[Body] = self.request("GET", _kind(kind).collection(self.namespace) + query)["items"]
        return items

    def create(self, body: Body, *, manager: str = "user", dry_run: bool = False) -> Body:
        """POST with strict field validation, as `kubectl create --validate=strict` does."""
        query = f"?fieldManager={manager}&fieldValidation=Strict{'&dryRun=All' if dry_run else ''}"
        return self.request("POST", _kind(body["kind"]).collection(self.namespace) + query, body)

    def patch(
        self, kind: str, name: str, change: object, *, manager: str = "user", how: str = "merge", sub: str = ""
    ) -> Body:
        """PATCH by one of merge, apply, json; `sub` is a subresource such as scale."""
        path = self._item(kind, name, sub) + f"?fieldManager={manager}{'&force=true' if how == 'apply' else ''}"
        return self.request("PATCH", path, change, content=PATCHES[how])

    def delete(self, kind: str, name: str, *, grace_seconds: int | None = None) -> None:
        """DELETE; a missing object is fine."""
        query = "" if grace_seconds is None else f"?gracePeriodSeconds={grace_seconds}"
        try:
            self.request("DELETE", self._item(kind, name) + query)
        except Rejected as rejected:
            if rejected.status != 404:
                raise

    def kubectl(self, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
        """kubectl in the namespace, as a user types it; returns what it prints."""
        command = [
            str(self.kubectl_path),
            "--kubeconfig",
            str(self.kubeconfig),
            *(["--context", self.context] if self.context else []),
            "--namespace",
            self.namespace,
            *arguments,
        ]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603
        if check and done.returncode != 0:
            raise Rejected(done.returncode, done.stderr)
        return done.stdout + ("" if check else done.stderr)

    def condition(self, name: str, kind: str) -> Mapping[str, Any]:
        """A condition of an LLMService; empty when it has none."""
        return condition_of(self.get("LLMService", name), kind)

    def await_end(self, namespace: str) -> None:
        """Until a namespace that is being deleted is gone: nothing can be made in it before."""
        ends = "jsonpath={.metadata.deletionTimestamp}"
        if self.kubectl("get", "namespace", namespace, "--ignore-not-found", "-o", ends):
            self.kubectl("wait", "--for=delete", f"namespace/{namespace}", "--timeout=110s")

    def wait_ready(self, name: str, reason: str = "Ready", seconds: float = 180) -> Body:
        """Wait until Ready is True with this reason for the current generation."""

        def is_ready() -> Body | None:
            body = self.get("LLMService", name)
            ready = condition_of(body, "Ready")
            fits = (ready.get("status"), ready.get("reason")) == ("True", reason)
            current = body is not None and ready.get("observedGeneration") == body["metadata"]["generation"]
            return body if fits and current else None

        return self.wait(is_ready, lambda: self.get("LLMService", name), seconds)

    def wait_reason(self, name: str, reason: str, kind: str = "Ready", seconds: float = 90) -> Mapping[str, Any]:
        """Wait until a condition shows this reason."""

        def shows() -> Mapping[str, Any] | None:
            found = self.condition(name, kind)
            return found if found.get("reason") == reason else None

        return self.wait(shows, lambda: self.get("LLMService", name), seconds)

    def wait(self, look: Callable[[], Answer | None], describe: Callable[[], object], seconds: float = 90) -> Answer:
        """Look until there is an answer; the error shows the last state."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if (answer := look()) is not None and answer is not False:
                return answer
            time.sleep(0.1)
        raise AssertionError(
            f"not within {seconds} s; last seen: {json.dumps(describe(), indent=1, default=str)[:6000]}"
        )

    def _item(self, kind: str, name: str, sub: str = "") -> str:
        return _kind(kind).item(self.namespace, name, sub)

    def _authorization(self) -> dict[str, str]:
        token = self.api.configuration.get_api_key_with_prefix("BearerToken", alias="authorization")
        return {"Authorization": token} if token else {}


def condition_of(body: Body | None, kind: str) -> Mapping[str, Any]:
    """A condition of this very body, so that what is asserted beside it was true at the same moment; empty for none."""
    conditions = (body or {}).get("status", {}).get("conditions") or ()
    return next((item for item in conditions if item["type"] == kind), {})


def collection_of(kind: str, namespace: str) -> str:
    """The URL path of the objects of a kind in a namespace."""
    return _kind(kind).collection(namespace)


def item_of(kind: str, namespace: str, name: str, sub: str = "") -> str:
    """The URL path of an object, or of its subresource."""
    return _kind(kind).item(namespace, name, sub)


def _kind(kind: str) -> Kind:
    return KINDS.get(kind) or MORE_KINDS[kind]
