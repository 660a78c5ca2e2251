from typing import Any

import orjson
import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.caching.trimming import trimmed
from llmservice.converging.replicas import owned_by_another
from llmservice.objects.names import LONGEST_SOURCE, REVISION_ANNOTATION, SERVED_SOURCE_ANNOTATION, SOURCE_ANNOTATION
from llmservice.objects.pods import engine_of
from llmservice.objects.references import Manifest, controller_of, ref_of
from tests.builders import with_changes
from tests.unit.cluster.objects import a_deployment
from tests.unit.objects.test_endpoint_slices import OF_SELECTOR, OURS

SERVICE = {
    "apiVersion": "llmservice.dev/v1alpha1",
    "kind": "LLMService",
    "name": "chat",
    "uid": "s",
    "controller": True,
}
REPLICA_SET = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "chat-5d9", "uid": "r", "controller": True}


def a_child(**metadata: Any) -> Manifest:
    return a_deployment(service="chat", **{"ownerReferences": [SERVICE], **metadata})


def a_pod(**more: Any) -> Manifest:
    metadata = {"name": "p", "uid": "u", "managedFields": [{}], "ownerReferences": [REPLICA_SET]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, **more}


def size(*manifests: Manifest) -> int:
    return sum(len(orjson.dumps(trimmed(manifest))) for manifest in manifests)


def test_keeps_of_a_pod_the_node_the_containers_and_the_status() -> None:
    container = {"name": "engine", "image": "e:1", "resources": {"limits": {"cpu": "1"}}, "env": [{"name": "A"}]}
    spec = {"nodeName": "node1", "volumes": [{}], "containers": [container]}
    statuses = [{"name": "engine", "ready": True, "state": {"running": {"startedAt": "now"}}}]
    status = {"phase": "Running", "podIP": "10.0.0.1", "conditions": [{"type": "Ready", "status": "True"}]}

    assert trimmed(a_pod(spec=spec, status={**status, "containerStatuses": statuses, "hostIP": "10.0.0.2"})) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "uid": "u", "ownerReferences": [REPLICA_SET]},
        "spec": {"nodeName": "node1", "containers": [{"name": "engine", "image": "e:1"}]},
        "status": {**status, "containerStatuses": statuses},
    }


def test_keeps_the_devices_of_containers() -> None:
    amounts = {"limits": {"nvidia.com/gpu": "2", "memory": "8Gi"}, "requests": {"nvidia.com/gpu": "2"}}
    containers = [{"name": "engine", "resources": amounts}, {"name": "proxy"}]
    assert trimmed(a_pod(spec={"containers": containers}))["spec"]["containers"] == [
        {"name": "engine", "resources": {"limits": {"nvidia.com/gpu": "2"}}},
        {"name": "proxy"},
    ]


def test_keeps_of_a_pod_how_long_it_may_take_to_end() -> None:
    pod = a_pod(spec={"terminationGracePeriodSeconds": 320, "containers": []}, status={})
    pod["metadata"] |= {"deletionTimestamp": "2026-11-22T10:05:20Z", "deletionGracePeriodSeconds": 30}
    kept = trimmed(pod)
    assert kept["spec"]["terminationGracePeriodSeconds"] == 320
    assert kept["metadata"]["deletionGracePeriodSeconds"] == 30


def test_a_pod_that_talks_without_an_end_costs_little_and_its_engine_is_known() -> None:
    names = [*(f"c-{number}" for number in range(5000)), "engine"]
    ended = {"terminated": {"exitCode": 1, "message": "x" * 200_000}}
    status = {
        "message": "x" * 200_000,
        "conditions": [{"type": f"example.com/{name}", "message": "x" * 4096} for name in names],
        "containerStatuses": [{"name": name, "lastState": ended} for name in names],
    }
    pod = a_pod(spec={"containers": [{"name": name, "image": "e:1"} for name in names]}, status=status)

    assert size(pod) < 300_000
    assert engine_of(trimmed(pod))["lastState"]["terminated"]["message"] == "x" * 4096
    assert trimmed(pod)["spec"]["containers"][0]["name"] == "engine"


@pytest.mark.parametrize("kind", ["Deployment", "Service", "NetworkPolicy", "PodDisruptionBudget", "Pod", "ReplicaSet"])
@pytest.mark.parametrize("owner", [{}, {**SERVICE, "kind": "Rollout"}, {**SERVICE, "name": "x" * 253}])
def test_a_hundred_large_objects_that_only_have_a_childs_label_cost_a_hundred_kilobytes(
    kind: str, owner: Manifest
) -> None:
    metadata: dict[str, Any] = {
        "labels": {"llmservice.dev/name": "chat", **{f"label-{number}": "x" for number in range(1000)}},
        "annotations": {"example.com/notes": "x" * 200_000},
        "ownerReferences": [{"uid": "other"}] * 1000 + [owner],
    }
    foreign = [
        {**a_deployment(f"foreign-{number}", **metadata), "kind": kind, "spec": {"notes": "x" * 1_200_000}}
        for number in range(100)
    ]

    assert size(*foreign) < 100_000
    assert controller_of(trimmed(foreign[0])) == owner
    assert trimmed(foreign[0])["metadata"]["labels"] == {"llmservice.dev/name": "chat"}


def test_what_is_given_to_a_service_is_known_whole() -> None:
    cache, foreign = ObjectCache(), a_deployment(version=1, service="chat")
    cache.put(foreign)
    before = cache.get(ref_of(foreign))
    adopted = a_child(resourceVersion="2")
    cache.put(adopted)

    assert before is not None
    assert "spec" not in before
    assert cache.get(ref_of(foreign)) == adopted


@pytest.mark.parametrize("kind", ["Deployment", "Pod", "ReplicaSet"])
def test_an_empty_label_is_a_label(kind: str) -> None:
    labels = {"llmservice.dev/name": ""}
    assert trimmed({**a_deployment(labels=labels), "kind": kind})["metadata"]["labels"] == labels


def test_keeps_of_a_replica_set_whose_it_is() -> None:
    controller = {"kind": "Deployment", "name": "chat", "uid": "d-1", "controller": True}
    names = {"name": "chat-5d9", "namespace": "ml", "uid": "r-1", "resourceVersion": "7"}
    labels = {"llmservice.dev/name": "chat"}
    more = {"annotations": {"a": "1"}, "managedFields": [{}], "generation": 3}
    owners = [{"kind": "Other", "name": "x", "uid": "x"}, controller]
    metadata = {**names, **more, "labels": {**labels, "pod-template-hash": "5d9"}, "ownerReferences": owners}

    assert trimmed({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": {}}) == {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {**names, "labels": labels, "ownerReferences": [controller]},
    }


def test_keeps_of_a_deployment_who_owns_replicas() -> None:
    scaler = {"manager": "hpa", "operation": "Update", "time": "now", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    other = {"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:metadata": {}}}
    live = trimmed(a_child(managedFields=[scaler, other]))

    assert [entry["manager"] for entry in live["metadata"]["managedFields"]] == ["hpa"]
    assert owned_by_another(live)


def test_equal_parts_of_two_pod_templates_are_held_once() -> None:
    def a_template(port: int) -> Manifest:
        container = {"name": "engine", "livenessProbe": {"periodSeconds": 5}, "ports": [{"containerPort": port}]}
        return {"template": {"spec": {"containers": [container], "tolerations": [{"key": "gpu"}]}}}

    one, other = (trimmed({**a_child(), "spec": a_template(port)}) for port in (1, 2))
    first, second = (live["spec"]["template"]["spec"] for live in (one, other))

    assert first["tolerations"][0] is second["tolerations"][0]
    assert first["containers"][0]["livenessProbe"] is second["containers"][0]["livenessProbe"]
    assert [spec["containers"][0]["ports"][0]["containerPort"] for spec in (first, second)] == [1, 2]
    assert one == {**a_child(), "spec": a_template(1)}


def test_equal_facts_of_two_plans_are_held_once() -> None:
    facts, resource = "x" * 100, {"apiVersion": "v1", "kind": "LLMService", "metadata": {"name": "chat"}}
    one, other = (trimmed({**resource, "status": {"plan": {"facts": facts[:50] + facts[50:]}}}) for _ in range(2))

    assert one["status"]["plan"]["facts"] is other["status"]["plan"]["facts"]
    assert one == {**resource, "status": {"plan": {"facts": facts}}}


def test_leaves_the_given_object_as_it_is() -> None:
    live = a_deployment(managedFields=[{"manager": "kubectl"}])
    trimmed(live)

    assert live["metadata"]["managedFields"] == [{"manager": "kubectl"}]


def test_trimming_again_changes_nothing() -> None:
    scaler = {"manager": "hpa", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:paused": {}}}}
    once = trimmed(a_child(managedFields=[scaler]))

    assert once["metadata"]["managedFields"]
    assert trimmed(once) == once


def test_takes_an_object_that_is_metadata_alone() -> None:
    live = trimmed({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})

    assert live["metadata"] == {"name": "p"}


def test_keeps_of_an_llmservices_metadata_what_is_read_and_nothing_that_has_no_bound() -> None:
    read = {"name": "chat", "namespace": "ml", "uid": "u", "resourceVersion": "7", "generation": 3}
    foreign = {
        "labels": {f"label-{number}": "x" for number in range(1000)},
        "finalizers": ["example.com/x"] * 1000,
        "ownerReferences": [{"uid": "u"}] * 1000,
        "managedFields": [{"manager": "kubectl"}] * 1000,
    }
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "x" * 200_000, "llmservice.dev/other": "y"}
    live = {
        "apiVersion": "llmservice.dev/v1alpha1",
        "kind": "LLMService",
        "metadata": {**read, **foreign, "annotations": {**annotations, "llmservice.dev/update": "z" * 50_000}},
        "spec": {"engine": "vllm"},
    }

    assert trimmed(live)["metadata"] == {**read, "annotations": {"llmservice.dev/update": "z" * 256}}


@pytest.mark.parametrize("kind", ["Deployment", "Service", "Pod"])
def test_keeps_of_a_childs_annotations_those_of_the_operator(kind: str) -> None:
    ours = {"llmservice.dev/intent": "abc", "controller.kubernetes.io/pod-deletion-cost": "7"}
    live = {**a_child(annotations={**ours, "example.com/notes": "x" * 200_000}), "kind": kind}
    live["metadata"]["ownerReferences"] = [REPLICA_SET if kind == "Pod" else SERVICE]

    assert trimmed(live)["metadata"]["annotations"] == ours


def test_an_annotation_that_nobody_reads_makes_no_difference() -> None:
    assert trimmed(a_child(annotations={"example.com/notes": "x"})) == trimmed(a_child())


def test_what_a_template_is_made_from_stays_whole_and_a_replica_set_keeps_its_revision() -> None:
    whole, too_long = "x" * LONGEST_SOURCE, "x" * (LONGEST_SOURCE + 1)
    kept = trimmed(a_child(annotations={SOURCE_ANNOTATION: whole, SERVED_SOURCE_ANNOTATION: too_long}))
    assert kept["metadata"]["annotations"] == {SOURCE_ANNOTATION: whole}
    metadata = {"name": "chat-5d9", "uid": "r", "annotations": {REVISION_ANNOTATION: "7", SOURCE_ANNOTATION: whole}}
    replica_set = trimmed({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata})
    assert replica_set["metadata"]["annotations"] == {REVISION_ANNOTATION: "7"}


def test_keeps_our_endpoint_slice_as_it_is_compared() -> None:
    said = {"llmservice.dev/activation": "{}", "llmservice.dev/intent": "d", "foreign": "x"}
    ours = with_changes(OURS, {"metadata__annotations": said, "metadata__managedFields": [{}]})
    kept = trimmed(ours)
    assert kept["metadata"]["annotations"] == {"llmservice.dev/activation": "{}", "llmservice.dev/intent": "d"}
    assert {**kept, "metadata": 0} == {**OURS, "metadata": 0}
    many = with_changes(OURS, {"endpoints": OURS["endpoints"] * 1000, "ports": OURS["ports"] * 1000})
    assert size(many) < 20_000
    assert trimmed(with_changes(OURS, {"endpoints": None}))["endpoints"] == []


def test_keeps_of_a_selectors_endpoint_slice_whether_a_replica_is_ready() -> None:
    many = with_changes(OF_SELECTOR, {"endpoints": OURS["endpoints"] * 1000})
    assert trimmed(many)["endpoints"] == [{"conditions": {"ready": True}}]
    assert trimmed(with_changes(OF_SELECTOR, {"endpoints": []}))["endpoints"] == []
    assert "ports" not in trimmed(many)
