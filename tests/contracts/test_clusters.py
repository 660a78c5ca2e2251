"""Both clusters keep one contract: every sentence of `Cluster`, and what api.md says about replicas and ownership."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.cluster import Cluster
from llmservice.cluster.connection import Connection, connect
from llmservice.cluster.credentials import load_credentials
from llmservice.cluster.in_memory import InMemoryCluster
from llmservice.cluster.kinds import KINDS
from llmservice.converging.references import Manifest, Ref, ref_of, uid_of
from llmservice.converging.replicas import AUTOSCALER, OPERATOR, owned_by_another
from llmservice.errors import Conflict, Refused

Patch = Callable[..., Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A cluster, a namespace of one's own in it, and the hands of somebody else: a merge patch."""

    cluster: Cluster
    namespace: str
    patch: Patch

    def service(self, name: str = "chat", **metadata: Any) -> Manifest:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"namespace": self.namespace, "name": name, **metadata},
            "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
        }

    def deployment(self, name: str = "chat", *, container: Mapping[str, Any] | None = None, **spec: Any) -> Manifest:
        """Paused, so that no controller makes pods of it."""
        template = {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [container or {"name": "engine", "image": "registry.test/engine:1"}]},
        }
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"namespace": self.namespace, "name": name},
            "spec": {"paused": True, "selector": {"matchLabels": {"app": name}}, "template": template, **spec},
        }

    def ref(self, kind: str = "Deployment", name: str = "chat") -> Ref:
        return Ref(kind, self.namespace, name)

    async def live(self, kind: str = "Deployment", name: str = "chat") -> Manifest:
        live = await self.cluster.get(self.ref(kind, name))
        assert live is not None
        return live

    async def replicas(self) -> int:
        return int((await self.live())["spec"]["replicas"])


@pytest.fixture(params=["in_memory", pytest.param("api_server", marks=pytest.mark.cluster)])
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Subject]:
    if request.param == "in_memory":
        cluster = InMemoryCluster()
        yield Subject(cluster=cluster, namespace="contract", patch=_patch_in_memory(cluster))
        return
    credentials = await load_credentials(kubeconfig=str(request.getfixturevalue("sandbox_kubeconfig")))
    namespace = f"contract-{uuid.uuid4().hex[:8]}"
    async with connect(credentials) as connection:
        await connection.call("POST", "/api/v1/namespaces", body={"metadata": {"name": namespace}})
        yield Subject(cluster=ApiServer(connection), namespace=namespace, patch=_patch_api_server(connection))
        await connection.call("DELETE", f"/api/v1/namespaces/{namespace}")


def _patch_in_memory(cluster: InMemoryCluster) -> Patch:
    async def patch(ref: Ref, body: Manifest, *, manager: str = "kubectl-edit", subresource: str = "") -> None:
        cluster.edit(ref, lambda live: _merge(live, body), manager=manager, subresource=subresource)

    return patch


def _patch_api_server(connection: Connection) -> Patch:
    async def patch(ref: Ref, body: Manifest, *, manager: str = "kubectl-edit", subresource: str = "") -> None:
        target = KINDS[ref.kind].item(ref.namespace, ref.name, subresource)
        media_type = "application/merge-patch+json"
        await connection.call("PATCH", f"{target}?fieldManager={manager}", body=body, content_type=media_type)

    return patch


def _merge(live: dict[str, Any], body: Mapping[str, Any]) -> None:
    for key, value in body.items():
        if isinstance(value, Mapping):
            _merge(live.setdefault(key, {}), value)
        else:
            live[key] = value


async def test_get_answers_none_for_what_is_not_there(subject: Subject) -> None:
    assert await subject.cluster.get(subject.ref()) is None


async def test_apply_creates_with_uid_and_generation(subject: Subject) -> None:
    applied = await subject.cluster.apply(subject.deployment(), manager=OPERATOR)

    assert uid_of(applied)
    assert applied["metadata"]["generation"] == 1
    assert ref_of(applied) == subject.ref()


async def test_the_same_apply_again_changes_nothing(subject: Subject) -> None:
    first = await subject.cluster.apply(subject.service(), manager=OPERATOR)
    again = await subject.cluster.apply(subject.service(), manager=OPERATOR)

    assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_a_field_dropped_by_its_only_owner_disappears(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(labels={"a": "1", "b": "2"}), manager=OPERATOR)
    applied = await subject.cluster.apply(subject.service(labels={"a": "1"}), manager=OPERATOR)

    assert applied["metadata"]["labels"] == {"a": "1"}


async def test_a_map_emptied_by_its_only_owner_disappears(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(annotations={"a": "1"}), manager=OPERATOR)
    applied = await subject.cluster.apply(subject.service(), manager=OPERATOR)

    assert "annotations" not in applied["metadata"]


async def test_a_field_dropped_by_one_of_two_owners_stays(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(labels={"a": "1"}), manager=OPERATOR)
    await subject.cluster.apply(subject.service(labels={"a": "1"}), manager="somebody")
    applied = await subject.cluster.apply(subject.service(), manager=OPERATOR)

    assert applied["metadata"]["labels"] == {"a": "1"}


async def test_a_foreign_annotation_survives(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(annotations={"ours": "1"}), manager=OPERATOR)
    await subject.patch(subject.ref("Service"), {"metadata": {"annotations": {"theirs": "x"}}})
    applied = await subject.cluster.apply(subject.service(), manager=OPERATOR)

    assert applied["metadata"]["annotations"] == {"theirs": "x"}


async def test_a_value_changed_by_other_hands_is_taken_back(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(labels={"a": "ours"}), manager=OPERATOR)
    await subject.patch(subject.ref("Service"), {"metadata": {"labels": {"a": "theirs"}}})
    applied = await subject.cluster.apply(subject.service(labels={"a": "ours"}), manager=OPERATOR)

    assert applied["metadata"]["labels"] == {"a": "ours"}
    assert [entry["manager"] for entry in applied["metadata"]["managedFields"]] == [OPERATOR]


async def test_lists_with_keys_are_merged_element_by_element(subject: Subject) -> None:
    with_ours = {"name": "engine", "image": "registry.test/engine:1", "env": [{"name": "OURS", "value": "1"}]}
    with_theirs = {"name": "engine", "image": "registry.test/engine:1", "env": [{"name": "THEIRS", "value": "2"}]}
    await subject.cluster.apply(subject.deployment(container=with_ours), manager=OPERATOR)
    await subject.cluster.apply(subject.deployment(container=with_theirs), manager="somebody")
    live = await subject.live()

    names = {variable["name"] for variable in live["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert names == {"OURS", "THEIRS"}


async def test_an_element_dropped_by_its_only_owner_disappears(subject: Subject) -> None:
    engine = {"name": "engine", "image": "registry.test/engine:1"}
    variables = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    await subject.cluster.apply(subject.deployment(container={**engine, "env": variables}), manager=OPERATOR)
    await subject.cluster.apply(subject.deployment(container={**engine, "env": variables[:1]}), manager=OPERATOR)
    live = await subject.live()

    assert live["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "A", "value": "1"}]


async def test_an_element_of_another_key_replaces_ours_alone(subject: Subject) -> None:
    sidecar = {"name": "sidecar", "image": "registry.test/sidecar:1"}
    await subject.cluster.apply(subject.deployment(), manager=OPERATOR)
    await subject.cluster.apply(subject.deployment(container=sidecar), manager="somebody")
    renamed = {"name": "other", "image": "registry.test/engine:1"}
    applied = await subject.cluster.apply(subject.deployment(container=renamed), manager=OPERATOR)

    containers = applied["spec"]["template"]["spec"]["containers"]
    assert {container["name"] for container in containers} == {"other", "sidecar"}


async def test_what_others_put_into_our_element_goes_with_it(subject: Subject) -> None:
    engine = {"name": "engine", "image": "registry.test/engine:1"}
    await subject.cluster.apply(subject.deployment(container=engine), manager=OPERATOR)
    containers = [{**engine, "env": [{"name": "THEIRS", "value": "2"}]}]
    await subject.patch(subject.ref(), {"spec": {"template": {"spec": {"containers": containers}}}})
    applied = await subject.cluster.apply(subject.deployment(container={**engine, "name": "other"}), manager=OPERATOR)

    assert [container["name"] for container in applied["spec"]["template"]["spec"]["containers"]] == ["other"]
    assert "kubectl-edit" not in {entry["manager"] for entry in applied["metadata"]["managedFields"]}


async def test_lists_without_keys_are_replaced(subject: Subject) -> None:
    engine = {"name": "engine", "image": "registry.test/engine:1"}
    await subject.cluster.apply(subject.deployment(container={**engine, "args": ["--a", "--b"]}), manager=OPERATOR)
    applied = await subject.cluster.apply(subject.deployment(container={**engine, "args": ["--b"]}), manager=OPERATOR)

    assert applied["spec"]["template"]["spec"]["containers"][0]["args"] == ["--b"]


async def test_the_server_fills_in_what_is_not_stated(subject: Subject) -> None:
    applied = await subject.cluster.apply(subject.deployment(), manager=OPERATOR)
    spec = applied["spec"]
    pod = spec["template"]["spec"]

    assert spec["replicas"] == 1
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": "25%"}
    assert (pod["terminationGracePeriodSeconds"], pod["dnsPolicy"]) == (30, "ClusterFirst")
    assert pod["containers"][0]["imagePullPolicy"] == "IfNotPresent"


async def test_a_change_of_the_spec_raises_the_generation(subject: Subject) -> None:
    await subject.cluster.apply(subject.deployment(replicas=0), manager=OPERATOR)
    applied = await subject.cluster.apply(subject.deployment(replicas=2), manager=OPERATOR)

    assert applied["metadata"]["generation"] == 2


async def test_a_label_leaves_the_generation_alone_and_an_annotation_of_a_deployment_does_not(subject: Subject) -> None:
    await subject.cluster.apply(subject.deployment(), manager=OPERATOR)
    await subject.patch(subject.ref(), {"metadata": {"labels": {"a": "1"}}})
    labelled = await subject.live()
    await subject.patch(subject.ref(), {"metadata": {"annotations": {"a": "1"}}})
    annotated = await subject.live()

    assert (labelled["metadata"]["generation"], annotated["metadata"]["generation"]) == (1, 2)


async def test_a_uid_of_an_object_that_is_gone_is_a_conflict(subject: Subject) -> None:
    with pytest.raises(Conflict):
        await subject.cluster.apply(subject.service(uid="11111111-1111-4111-8111-111111111111"), manager=OPERATOR)
    assert await subject.cluster.get(subject.ref("Service")) is None


async def test_a_uid_of_another_object_is_a_conflict(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(labels={"a": "1"}), manager=OPERATOR)
    with pytest.raises(Conflict):
        await subject.cluster.apply(subject.service(uid="11111111-1111-4111-8111-111111111111"), manager=OPERATOR)
    assert (await subject.live("Service"))["metadata"]["labels"] == {"a": "1"}


async def test_an_outdated_resource_version_is_a_conflict(subject: Subject) -> None:
    first = await subject.cluster.apply(subject.service(), manager=OPERATOR)
    await subject.patch(subject.ref("Service"), {"metadata": {"labels": {"a": "theirs"}}})
    version = first["metadata"]["resourceVersion"]

    with pytest.raises(Conflict):
        await subject.cluster.apply(subject.service(resourceVersion=version, labels={"a": "ours"}), manager=OPERATOR)


async def test_a_matching_uid_and_resource_version_are_no_obstacle(subject: Subject) -> None:
    first = await subject.cluster.apply(subject.service(), manager=OPERATOR)
    known = {key: first["metadata"][key] for key in ("uid", "resourceVersion")}
    applied = await subject.cluster.apply(subject.service(**known, labels={"a": "1"}), manager=OPERATOR)

    assert applied["metadata"]["labels"] == {"a": "1"}


async def test_a_dry_run_shows_the_object_and_writes_nothing(subject: Subject) -> None:
    shown = await subject.cluster.apply(subject.deployment(), manager=OPERATOR, dry_run=True)

    assert shown["spec"]["replicas"] == 1
    assert await subject.cluster.get(subject.ref()) is None


async def test_what_the_server_forbids_is_refused_with_its_words(subject: Subject) -> None:
    await subject.cluster.apply(subject.deployment(), manager=OPERATOR)
    with pytest.raises(Refused, match=r"spec\.selector.*field is immutable"):
        await subject.cluster.apply(subject.deployment() | _other_selector(subject), manager=OPERATOR)


def _other_selector(subject: Subject) -> Manifest:
    return {"spec": {**subject.deployment("other")["spec"]}}


async def test_the_only_owner_of_replicas_that_drops_them_gets_one(subject: Subject) -> None:
    await subject.cluster.apply(subject.deployment(replicas=5), manager=OPERATOR)
    await subject.cluster.apply(subject.deployment(), manager=OPERATOR)

    assert await subject.replicas() == 1


async def test_the_scale_takes_replicas_over_by_force(subject: Subject) -> None:
    await subject.cluster.apply(subject.deployment(replicas=1), manager=OPERATOR)
    await subject.cluster.apply_scale(subject.ref(), 4, manager=AUTOSCALER)
    live = await subject.live()

    assert live["spec"]["replicas"] == 4
    assert owned_by_another(live)


async def test_replicas_stay_when_the_operator_drops_them_after_a_take_over(subject: Subject) -> None:
    await subject.cluster.apply(subject.deployment(replicas=1), manager=OPERATOR)
    await subject.cluster.apply_scale(subject.ref(), 4, manager=AUTOSCALER)
    await subject.cluster.apply(subject.deployment(), manager=OPERATOR)

    assert await subject.replicas() == 4


async def test_replicas_equal_to_ours_are_shared_and_stay_when_we_drop_them(subject: Subject) -> None:
    await subject.cluster.apply(subject.deployment(replicas=3), manager=OPERATOR)
    await subject.cluster.apply_scale(subject.ref(), 3, manager=AUTOSCALER)
    await subject.cluster.apply(subject.deployment(), manager=OPERATOR)

    assert await subject.replicas() == 3


async def test_the_operator_takes_replicas_back_by_stating_them(subject: Subject) -> None:
    await subject.cluster.apply(subject.deployment(replicas=1), manager=OPERATOR)
    await subject.cluster.apply_scale(subject.ref(), 4, manager=AUTOSCALER)
    applied = await subject.cluster.apply(subject.deployment(replicas=2), manager=OPERATOR)

    assert applied["spec"]["replicas"] == 2
    assert not owned_by_another(applied)


async def test_kubectl_scale_owns_replicas_and_keeps_them(subject: Subject) -> None:
    await subject.cluster.apply(subject.deployment(replicas=1), manager=OPERATOR)
    await subject.patch(subject.ref(), {"spec": {"replicas": 6}}, manager="kubectl", subresource="scale")
    assert owned_by_another(await subject.live())
    await subject.cluster.apply(subject.deployment(), manager=OPERATOR)

    assert await subject.replicas() == 6


async def test_defaulted_replicas_belong_to_nobody(subject: Subject) -> None:
    applied = await subject.cluster.apply(subject.deployment(), manager=OPERATOR)

    assert not owned_by_another(applied)


async def test_the_scale_of_what_is_gone_is_a_conflict(subject: Subject) -> None:
    with pytest.raises(Conflict):
        await subject.cluster.apply_scale(subject.ref(), 2, manager=AUTOSCALER)


async def test_the_status_of_what_is_gone_is_none(subject: Subject) -> None:
    intent = _status(subject, "Ours") | {"apiVersion": "apps/v1", "kind": "Deployment"}

    assert await subject.cluster.apply_status(intent, manager=OPERATOR) is None


async def test_apply_status_writes_the_status_alone(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(), manager=OPERATOR)
    intent = _status(subject, "Ours") | {"spec": {"sessionAffinity": "ClientIP"}}
    applied = await subject.cluster.apply_status(intent, manager=OPERATOR)

    assert applied is not None
    assert [condition["type"] for condition in applied["status"]["conditions"]] == ["Ours"]
    assert applied["spec"]["sessionAffinity"] == "None"


async def test_apply_leaves_the_status_alone(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(), manager=OPERATOR)
    await subject.cluster.apply_status(_status(subject, "Ours"), manager=OPERATOR)
    applied = await subject.cluster.apply(subject.service(labels={"a": "1"}), manager=OPERATOR)

    assert [condition["type"] for condition in applied["status"]["conditions"]] == ["Ours"]


async def test_conditions_of_others_survive(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(), manager=OPERATOR)
    await subject.cluster.apply_status(_status(subject, "Theirs"), manager="somebody")
    await subject.cluster.apply_status(_status(subject, "Ours"), manager=OPERATOR)
    applied = await subject.cluster.apply_status(_status(subject, "Renamed"), manager=OPERATOR)

    assert applied is not None
    assert {condition["type"] for condition in applied["status"]["conditions"]} == {"Theirs", "Renamed"}


async def test_a_status_for_a_predecessor_is_a_conflict(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(), manager=OPERATOR)
    intent = _status(subject, "Ours")
    intent["metadata"]["uid"] = "11111111-1111-4111-8111-111111111111"

    with pytest.raises(Conflict):
        await subject.cluster.apply_status(intent, manager=OPERATOR)


def _status(subject: Subject, kind: str) -> Manifest:
    condition = {
        "type": kind,
        "status": "True",
        "reason": "Tested",
        "message": "it is",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    metadata = {"namespace": subject.namespace, "name": "chat"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "status": {"conditions": [condition]}}


async def test_delete_takes_the_object_with_this_uid(subject: Subject) -> None:
    applied = await subject.cluster.apply(subject.service(), manager=OPERATOR)
    await subject.cluster.delete(subject.ref("Service"), uid=uid_of(applied))

    assert await subject.cluster.get(subject.ref("Service")) is None


async def test_delete_of_what_is_gone_does_nothing(subject: Subject) -> None:
    await subject.cluster.delete(subject.ref("Service"), uid="11111111-1111-4111-8111-111111111111")

    assert await subject.cluster.get(subject.ref("Service")) is None


async def test_delete_never_takes_a_successor(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(), manager=OPERATOR)
    with pytest.raises(Conflict):
        await subject.cluster.delete(subject.ref("Service"), uid="11111111-1111-4111-8111-111111111111")

    assert await subject.cluster.get(subject.ref("Service")) is not None


async def test_a_dependent_goes_with_its_owner(subject: Subject) -> None:
    owner = await subject.cluster.apply(subject.service("owner"), manager=OPERATOR)
    reference = {"apiVersion": "v1", "kind": "Service", "name": "owner", "uid": uid_of(owner), "controller": True}
    await subject.cluster.apply(subject.service("dependent", ownerReferences=[reference]), manager=OPERATOR)
    await subject.cluster.delete(subject.ref("Service", "owner"), uid=uid_of(owner))

    async with asyncio.timeout(20):
        while await subject.cluster.get(subject.ref("Service", "dependent")) is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def test_list_selects_by_label_and_names_the_kind(subject: Subject) -> None:
    await subject.cluster.apply(subject.service("one", labels={"llmservice.dev/name": "one"}), manager=OPERATOR)
    await subject.cluster.apply(subject.service("two", labels={"llmservice.dev/name": "two"}), manager=OPERATOR)
    await subject.cluster.apply(subject.service("foreign"), manager=OPERATOR)

    async def names(selector: str) -> list[str]:
        found = await subject.cluster.list("Service", subject.namespace, label_selector=selector)
        assert {(live["apiVersion"], live["kind"]) for live in found} == {("v1", "Service")}
        return sorted(live["metadata"]["name"] for live in found)

    assert await names("") == ["foreign", "one", "two"]
    assert await names("llmservice.dev/name") == ["one", "two"]
    assert await names("llmservice.dev/name=two") == ["two"]


async def test_list_without_a_namespace_looks_everywhere(subject: Subject) -> None:
    await subject.cluster.apply(subject.service(), manager=OPERATOR)
    found = await subject.cluster.list("Service")

    assert subject.ref("Service") in {ref_of(live) for live in found}


async def test_a_recorded_event_is_found_by_what_it_is_about(subject: Subject) -> None:
    await subject.cluster.record(_event(subject, "first", about="uid-1"))
    await subject.cluster.record(_event(subject, "second", about="uid-2"))
    selector = "involvedObject.uid=uid-2,type=Warning"
    found = await subject.cluster.list("Event", subject.namespace, field_selector=selector)

    assert [event["metadata"]["name"] for event in found] == ["second"]


def _event(subject: Subject, name: str, *, about: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": subject.namespace, "name": name},
        "involvedObject": {"kind": "LLMService", "namespace": subject.namespace, "name": "chat", "uid": about},
        "type": "Warning",
        "reason": "Tested",
        "message": "it was",
    }


async def test_the_log_of_a_pod_that_is_gone_is_empty(subject: Subject) -> None:
    assert await subject.cluster.log_tail(subject.ref("Pod"), "engine", previous=True) == ""
