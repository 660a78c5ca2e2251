"""Where a proxy stands before an engine, and what its container may do and use."""

from typing import Any

import pytest

from llmservice.planning.facts import facts_from_text
from llmservice.planning.proxy_plan import KeysPlan, ProxyPlan
from tests.unit.planning.planned import planned, refused, rendered

KEYS: dict[str, Any] = {"spec__auth": {"keysSecretRef": {"name": "clients"}}}


def proxy_of(**changes: Any) -> ProxyPlan:
    proxy = planned(**{**KEYS, **changes}).proxy
    assert proxy is not None
    return proxy


def containers(**changes: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The pod's spec, its engine and its proxy."""
    spec: dict[str, Any] = rendered("Deployment", **{**KEYS, **changes})["spec"]["template"]["spec"]
    return spec, spec["containers"][0], spec["initContainers"][0]


def test_without_keys_an_engine_that_measures_itself_has_none() -> None:
    plan = planned()
    facts = facts_from_text(plan.facts)
    assert facts is not None
    assert (plan.proxy, facts.proxy) == (None, "")
    assert "proxy" not in plan.facts


def test_with_keys_any_engine_has_one_that_neither_bounds_nor_measures() -> None:
    proxy = proxy_of()
    assert (proxy.measures, proxy.running, proxy.queued) == (False, 0, 0)
    assert proxy.keys == KeysPlan(name="clients")
    one = proxy_of(spec__auth={"keysSecretRef": {"name": "clients", "key": "keys.txt"}})
    assert one.keys == KeysPlan(name="clients", entry="keys.txt")


def test_the_keys_are_mounted_by_the_proxy_alone() -> None:
    spec, engine, proxy = containers()
    (secret,) = (volume["name"] for volume in spec["volumes"] if "secret" in volume)
    assert secret in {mount["name"] for mount in proxy["volumeMounts"] if mount.get("readOnly")}
    assert secret not in {mount["name"] for mount in engine.get("volumeMounts", ())}


def test_the_engine_has_another_user_than_the_proxy_unless_one_is_asked_for() -> None:
    """Processes of one user see each other's files where a pod shares its processes."""
    spec, _, proxy = containers()
    assert proxy["securityContext"]["runAsUser"] not in {0, spec["securityContext"]["runAsUser"]}
    spec, _, proxy = containers(spec__pod__securityContext={"runAsUser": 1000700000})
    assert "runAsUser" not in proxy["securityContext"]


def test_it_is_restricted_and_writes_nowhere_but_to_its_volume() -> None:
    security = containers()[2]["securityContext"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert (security["allowPrivilegeEscalation"], security["readOnlyRootFilesystem"]) == (False, True)
    assert security["runAsNonRoot"]


@pytest.mark.parametrize(
    ("resources", "is_guaranteed"),
    [
        ({"requests": {"cpu": "4", "memory": "8Gi"}, "limits": {"cpu": "4", "memory": "8Gi"}}, True),
        ({"limits": {"cpu": "4", "memory": "8Gi"}}, True),
        ({"requests": {"cpu": "2"}, "limits": {"cpu": "4", "memory": "8Gi"}}, False),
        ({"requests": {"cpu": "4", "memory": "8Gi"}}, False),
    ],
)
def test_a_guaranteed_pod_stays_guaranteed(resources: dict[str, Any], *, is_guaranteed: bool) -> None:
    used = containers(spec__pod__resources=resources)[2]["resources"]
    assert (used["requests"] == used["limits"]) is is_guaranteed
    assert ("cpu" in used["limits"]) is is_guaranteed


def test_more_requests_at_once_have_more_memory() -> None:
    usual, most = (proxy_of(spec__maxNumSeqs=number) for number in (8, 8192))
    assert (usual.connections, most.connections) == (4000, 17384)
    assert (usual.resource_limits["memory"], most.resource_limits["memory"]) == ("256Mi", "768Mi")


def test_keys_in_the_engine_are_refused_in_favour_of_the_secret() -> None:
    error = refused(spec__engineOptions={"args": ["--api-key", "sk-1"]})
    assert "spec.auth.keysSecretRef" in str(error)
    assert "sk-1" not in str(error)


def test_the_wait_for_the_engine_asks_the_engine_and_looks_at_clients_of_the_proxy() -> None:
    script = containers()[1]["lifecycle"]["preStop"]["exec"]["command"][2]
    assert "url=http://127.0.0.1:8001" in script
    assert ":(1F41|1F40) " in script
