"""The LeaderWorkerSet of a replica on several nodes, and what the other children say of its pods."""

from typing import Any

import pytest

from llmservice.objects.references import Manifest
from tests.unit.planning.planned import planned, rendered

NODES: dict[str, Any] = {
    "spec__engine": "vllm",
    "spec__model__uri": "hf://acme/chat-7B",
    "spec__gpu": {"type": "L4", "count": 4, "nodes": 2},
}
LEADERS = {"leaderworkerset.sigs.k8s.io/worker-index": "0"}


def group(**changes: Any) -> Manifest:
    spec: Manifest = rendered("LeaderWorkerSet", **{**NODES, **changes})["spec"]
    return spec


def templates(**changes: Any) -> tuple[Manifest, Manifest]:
    template = group(**changes)["leaderWorkerTemplate"]
    return template["leaderTemplate"], template["workerTemplate"]


def test_a_replica_is_a_group_that_is_made_anew_as_a_whole() -> None:
    spec = group()
    template = spec["leaderWorkerTemplate"]
    assert (template["size"], template["restartPolicy"]) == (2, "RecreateGroupOnPodRestart")
    assert (spec["startupPolicy"], spec["replicas"]) == ("LeaderCreated", 1)
    assert "replicas" not in rendered("LeaderWorkerSet", replicas=None, **NODES)["spec"]


def test_the_headless_services_do_not_take_the_name_of_the_service() -> None:
    assert group()["networkConfig"] == {"subdomainPolicy": "UniquePerReplica"}


@pytest.mark.parametrize(("strategy", "shape"), [("Replace", (0, 1)), ("Surge", (1, 0)), ("Auto", (0, 1))])
def test_a_rollout_replaces_groups(strategy: str, shape: tuple[int, int]) -> None:
    rolling = group(spec__rollout={"strategy": strategy})["rolloutStrategy"]["rollingUpdateConfiguration"]
    assert (rolling["maxSurge"], rolling["maxUnavailable"]) == shape


def test_workers_answer_nobody_and_end_soon_after_their_leader() -> None:
    leader, worker = templates()
    engine, other = leader["spec"]["containers"][0], worker["spec"]["containers"][0]
    assert {"ports", "readinessProbe", "livenessProbe", "startupProbe", "lifecycle"} <= engine.keys() - other.keys()
    assert worker["spec"]["terminationGracePeriodSeconds"] < leader["spec"]["terminationGracePeriodSeconds"]
    for key in ("image", "env", "resources", "securityContext", "volumeMounts"):
        assert engine[key] == other[key]


def test_a_proxy_stands_before_the_leader_alone() -> None:
    leader, worker = templates(spec__auth={"keysSecretRef": {"name": "clients"}})
    assert [each["name"] for each in leader["spec"]["initContainers"]] == ["proxy"]
    assert "initContainers" not in worker["spec"]
    assert not [name for name in worker["metadata"]["annotations"] if "proxy" in name]


def test_both_templates_bear_a_digest_that_changes_with_either() -> None:
    def digest(**changes: Any) -> str:
        leader, worker = (each["metadata"]["annotations"]["llmservice.dev/template"] for each in templates(**changes))
        assert leader == worker
        return str(leader)

    assert digest() == digest(spec__replicas=3)
    assert digest() != digest(spec__maxModelLen=1024)


def test_the_service_selects_leaders_and_the_budget_counts_every_pod() -> None:
    many = {**NODES, "spec__replicas": 2}
    assert LEADERS.items() <= rendered("Service", **many)["spec"]["selector"].items()
    budget = rendered("PodDisruptionBudget", **many)["spec"]["selector"]["matchLabels"]
    assert not LEADERS.items() & budget.items()


def test_a_network_policy_lets_the_pods_of_a_service_talk_to_each_other() -> None:
    ingress = rendered("NetworkPolicy", **NODES, spec__networkPolicy={"ingressFrom": []})["spec"]["ingress"]
    assert {"from": [{"podSelector": {"matchLabels": {"llmservice.dev/name": "chat"}}}]} in ingress
    alone = rendered("NetworkPolicy", spec__networkPolicy={"ingressFrom": []})["spec"]["ingress"]
    assert all("ports" in rule for rule in alone)


def test_one_node_has_a_deployment_alone() -> None:
    assert planned().workload_kind == "Deployment"
    assert "leaderWorkerTemplate" not in rendered("Deployment")["spec"]
