"""What the operator's token is worth for routes: they lead to the Service of their own name, and nowhere else."""

from typing import Any

import pytest
import yaml

from tests.cluster.kube import Body, Kube
from tests.cluster.test_admission_policy import OWNED, admin, answer, changed, owned, thief
from tests.golden.cases import CASES

__all__ = ["admin", "thief"]

pytestmark = pytest.mark.cluster

RULE = ("spec", "rules", 0)
BACKEND = (*RULE, "backendRefs", 0)
MIRROR = {"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "thief", "port": 80}}}
HEADER = {"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": ["authorization"]}}
HOST = {"type": "URLRewrite", "urlRewrite": {"hostname": "bank.example.com"}}
ASTRAY: dict[str, tuple[str, tuple[str | int, ...], dict[str, Any], str]] = {
    "anothers-service": ("HTTPRoute", BACKEND, {"name": "bank"}, "route"),
    "another-namespace": ("HTTPRoute", BACKEND, {"namespace": "bank"}, "route"),
    "another-kind": ("HTTPRoute", BACKEND, {"group": "example.com", "kind": "Bucket"}, "route"),
    "nowhere": ("HTTPRoute", RULE, {"backendRefs": []}, "route"),
    "a-mirror": ("HTTPRoute", RULE, {"filters": [MIRROR]}, "route"),
    "a-header": ("HTTPRoute", RULE, {"filters": [HEADER]}, "route"),
    "another-host": ("HTTPRoute", RULE, {"filters": [HOST]}, "route"),
    "a-mesh": ("HTTPRoute", ("spec",), {"parentRefs": [{"group": "", "kind": "Service", "name": "bank"}]}, "route"),
    "without-owner": ("HTTPRoute", ("metadata",), {"ownerReferences": []}, "owner"),
    "of-another-name": ("HTTPRoute", ("metadata",), {"name": "bank"}, "owner"),
    "others-pods": ("InferencePool", ("spec", "selector"), {"matchLabels": {"app": "bank"}}, "selector"),
    "a-picker-of-another-kind": ("InferencePool", ("spec", "endpointPickerRef"), {"kind": "Pod"}, "pool"),
}


def made(admin: Kube, kind: str) -> Body:
    """What the operator makes for the namespace's LLMService."""
    case = next(case for case in CASES if case.folder.name == "vllm-inference-pool")
    bodies = yaml.safe_load_all(case.manifests.read_text())
    body: Body = next(body for body in bodies if body["kind"] == kind)
    owner = admin.get("LLMService", OWNED)
    assert owner is not None
    return owned(body, admin.namespace, owner["metadata"]["uid"])


@pytest.mark.parametrize("kind", ["HTTPRoute", "InferencePool"])
def test_what_the_operator_makes_is_admitted(admin: Kube, thief: Kube, kind: str) -> None:
    assert answer(thief, "create", made(admin, kind)) == ""


@pytest.mark.parametrize("attempt", ASTRAY)
def test_a_stolen_token_leads_nobody_astray(admin: Kube, thief: Kube, attempt: str) -> None:
    kind, path, fields, rule = ASTRAY[attempt]
    body = changed(made(admin, kind), lambda part: part.update(fields), *path)
    assert f"denied request: rule {rule}" in answer(thief, "create", body)


def test_anothers_route_is_left_alone(admin: Kube, thief: Kube) -> None:
    theirs = {**made(admin, "HTTPRoute"), "metadata": {"name": OWNED}}
    admin.create(theirs)
    assert "denied request: rule owner" in answer(thief, "apply", made(admin, "HTTPRoute"))
