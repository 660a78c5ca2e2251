"""The API has no word for what cannot be asked for, no role a right too many, and SECURITY.md names real tests."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CRD = yaml.safe_load((ROOT / "crds/llmservices.llmservice.dev.yaml").read_text())
SPEC = CRD["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
ROLES = [
    pytest.param(body, id=f"{path.parent.name}-{body['metadata']['name']}")
    for path in sorted((ROOT / "manifests").rglob("*.yaml"))
    for body in yaml.safe_load_all(path.read_text())
    if body and body.get("kind") in {"Role", "ClusterRole"}
]
NO_WORD = {
    *("hostPath", "hostNetwork", "hostPID", "hostIPC", "hostPort", "hostUsers", "nodeName", "volumes", "ports"),
    *("containers", "initContainers", "ephemeralContainers", "command", "envFrom", "lifecycle"),
    *("privileged", "capabilities", "allowPrivilegeEscalation", "procMount", "seccompProfile", "seLinuxOptions"),
    *("automountServiceAccountToken", "serviceAccountToken", "projected", "csi"),
    *("namespace", "namespaces", "namespaceSelector", "url", "address", "endpoint", "serverAddress"),
}
FORBIDDEN = {"secrets", "pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers", "nodes/proxy"}
GRANTING = {"roles", "rolebindings", "clusterroles", "clusterrolebindings", "serviceaccounts/token"}
READING = {"get", "list", "watch"}


ADMITTING = {"networkPolicy", "parentRefs"}
"""Name others, of other namespaces too: those who may come in, and Gateways, which admit us or not. Nothing of ours
gets out by them."""


def words(schema: dict[str, Any]) -> Iterator[str]:
    """Every name of a field below."""
    for name, below in schema.get("properties", {}).items():
        yield name
        yield from words(below) if name not in ADMITTING else ()
    for below in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(below, dict):
            yield from words(below)


def test_the_api_has_no_word_for_the_node_for_others_or_for_an_address() -> None:
    assert set(words(SPEC)) & NO_WORD == set()


def test_the_api_keeps_nothing_it_does_not_know() -> None:
    assert "x-kubernetes-preserve-unknown-fields" not in yaml.safe_dump(CRD)


@pytest.mark.parametrize("role", ROLES)
def test_no_role_reads_secrets_enters_pods_or_grants_rights(role: dict[str, Any]) -> None:
    for rule in role.get("rules") or ():
        assert not {*rule.get("resources", ())} & (FORBIDDEN | GRANTING | {"*"})
        assert not {*rule["verbs"]} & {"*", "escalate", "bind", "impersonate"}


@pytest.mark.parametrize("role", ROLES)
def test_no_role_writes_nodes_or_namespaces(role: dict[str, Any]) -> None:
    for rule in role.get("rules") or ():
        if {*rule.get("resources", ())} & {"nodes", "namespaces", "customresourcedefinitions"}:
            assert {*rule["verbs"]} <= READING


def test_people_get_no_right_to_write_a_status() -> None:
    roles = list(yaml.safe_load_all((ROOT / "manifests/base/user-roles.yaml").read_text()))
    writes = [rule for role in roles for rule in role["rules"] if {*rule["verbs"]} - READING]
    assert [rule for rule in writes if "llmservices/status" in rule["resources"]] == []


def test_every_test_that_the_security_page_names_is_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "SECURITY.md").read_text()))
    text = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) >= 14
    assert {name for name in named if f"def {name}(" not in text} == set()
