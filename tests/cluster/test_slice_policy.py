"""What the operator's token is worth for EndpointSlices, which can point anywhere (CVE-2021-25740).

As in test_admission_policy.py no operator uses the token: each request is one that a thief could make.
"""

from typing import Any

import pytest

from tests.cluster.kube import Body, Kube, Rejected, item_of
from tests.cluster.test_admission_policy import (
    OWNED,
    SYSTEM,
    admin,
    answer,
    changed,
    owned,
    thief,
    write,
)

__all__ = ["admin", "thief"]  # fixtures

pytestmark = pytest.mark.cluster

MANAGER, SERVICE = "endpointslice.kubernetes.io/managed-by", "kubernetes.io/service-name"
ACTIVATOR = {"kind": "Pod", "namespace": SYSTEM, "name": "llmservice-activator-6d5f7c8b9d-x2x7q"}


def a_slice(admin: Kube, name: str = OWNED) -> Body:
    """The slice of the namespace's LLMService, as the operator makes it."""
    owner = admin.get("LLMService", OWNED)
    assert owner is not None
    labels = {"llmservice.dev/name": name, SERVICE: name, MANAGER: "llmservice.dev"}
    base: Body = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"labels": labels}}
    body = owned({**base, "spec": {}}, admin.namespace, owner["metadata"]["uid"])
    del body["spec"]
    body["metadata"]["name"] = f"{name}-activator"
    ports = [{"name": "http", "port": 20007, "protocol": "TCP", "appProtocol": "http"}]
    return {**body, "addressType": "IPv4", "ports": ports, "endpoints": [endpoint("10.1.2.3")]}


def endpoint(address: str, **fields: Any) -> Body:
    return {"addresses": [address], "conditions": {"ready": True}, "targetRef": ACTIVATOR, **fields}


def test_the_slice_that_leads_to_activators_is_made_emptied_filled_and_deleted(admin: Kube, thief: Kube) -> None:
    body = a_slice(admin)
    thief.create(body)
    item = item_of("EndpointSlice", admin.namespace, body["metadata"]["name"])
    for endpoints in ([], body["endpoints"], [endpoint("10.1.2.3"), endpoint("10.1.2.4")]):
        for how in ("apply", "merge"):
            write(thief, how, {**body, "endpoints": endpoints})
    admin.request("PATCH", item, {"endpoints": []}, content="application/merge-patch+json")
    write(
        thief, "merge", {"kind": "EndpointSlice", "metadata": {"name": body["metadata"]["name"], "labels": {"a": "b"}}}
    )
    thief.request("DELETE", item)


ELSEWHERE: dict[str, tuple[tuple[str | int, ...], dict[str, Any], str]] = {
    "without-owner": (("metadata",), {"ownerReferences": []}, "owner"),
    "of-another-name": (("metadata",), {"name": "bank-activator"}, "owner"),
    "of-another-service": (("metadata", "labels"), {SERVICE: "bank"}, "slice"),
    "with-another-services-label": (("metadata", "labels"), {"llmservice.dev/name": "bank"}, "slice"),
    "of-another-manager": (("metadata", "labels"), {MANAGER: "endpointslice-controller.k8s.io"}, "slice"),
    "in-kube-system": (("metadata",), {"namespace": "kube-system"}, "namespaces"),
    "names": ((), {"addressType": "FQDN", "endpoints": [endpoint("bank.example")]}, "slice"),
    "two-ports": ((), {"ports": [{"name": "http", "port": 20007}, {"name": "more", "port": 20008}]}, "slice"),
    "no-port": ((), {"ports": []}, "slice"),
    "a-port-below": (("ports", 0), {"port": 19999}, "slice"),
    "a-port-above": (("ports", 0), {"port": 30000}, "slice"),
    "another-protocol": (("ports", 0), {"protocol": "UDP"}, "slice"),
    "no-pod": (("endpoints", 0), {"targetRef": None}, "slice"),
    "a-node": (("endpoints", 0), {"targetRef": {"kind": "Node", "name": "llmservice-activator-a"}}, "slice"),
    "a-tenants-pod": (("endpoints", 0, "targetRef"), {"namespace": "default"}, "slice"),
    "another-pod-beside-the-operator": (("endpoints", 0, "targetRef"), {"name": "llmservice-operator-a"}, "slice"),
    "many": ((), {"endpoints": [endpoint(f"10.1.2.{last}") for last in range(1, 18)]}, "slice"),
}


@pytest.mark.parametrize("attempt", ELSEWHERE)
def test_a_stolen_token_points_no_service_anywhere_but_to_activators(admin: Kube, thief: Kube, attempt: str) -> None:
    path, fields, rule = ELSEWHERE[attempt]
    said = answer(thief, "create", changed(a_slice(admin), lambda part: part.update(fields), *path))
    assert f"denied request: rule {rule}" in said


@pytest.mark.parametrize("how", ["apply", "merge"])
def test_a_stolen_token_turns_no_slice_of_somebody_elses(admin: Kube, thief: Kube, how: str) -> None:
    """Neither one of Kubernetes' own controller, nor one that only has the name of ours."""
    theirs = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4"}
    for name, labels in (("vault-x7x2q", {MANAGER: "endpointslice-controller.k8s.io"}), ("vault-activator", {})):
        metadata = {"name": name, "labels": {SERVICE: "vault", **labels}}
        if admin.get("EndpointSlice", name) is None:
            admin.create({**theirs, "metadata": metadata, "ports": [{"port": 8200}], "endpoints": []})
        turned = a_slice(admin, "vault")
        turned["metadata"]["name"] = name
        assert "denied request: rule owner" in answer(thief, how, turned)
        with pytest.raises(Rejected, match="denied request: rule owner"):
            thief.request("DELETE", item_of("EndpointSlice", admin.namespace, name) + "?dryRun=All")
