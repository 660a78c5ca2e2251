"""Both clusters keep one contract: every sentence of `Cluster`."""

import asyncio

import pytest

from llmservice.cluster.kinds import KINDS
from llmservice.errors import Conflict, Refused
from llmservice.objects.names import AUTOSCALER, OPERATOR
from llmservice.objects.references import Manifest, ref_of, uid_of
from tests.contracts.clusters import Subject


async def test_get_answers_none_for_what_is_not_there(subject: Subject) -> None:
    assert await subject.cluster.get(subject.ref()) is None


async def test_apply_creates_with_uid_and_generation(subject: Subject) -> None:
    applied = await subject.apply(subject.deployment(), manager=OPERATOR)

    assert uid_of(applied)
    assert applied["metadata"]["generation"] == 1
    assert ref_of(applied) == subject.ref()


@pytest.mark.parametrize("kind", ["Service", "Deployment", "PodDisruptionBudget", "NetworkPolicy"])
async def test_an_object_created_between_read_and_write_stays_unchanged(subject: Subject, kind: str) -> None:
    """Nothing in it contradicts what we want, so that an apply without force would be merged into it."""
    ours = _child(subject, kind)
    assert await subject.cluster.get(ref_of(ours)) is None
    theirs = await subject.create(_bare(ours))

    with pytest.raises(Conflict):
        await subject.cluster.apply_new(ours, manager=OPERATOR)
    assert _of_its_maker(await subject.live(kind)) == _of_its_maker(theirs)


async def test_what_is_posted_is_made_once(subject: Subject) -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "inspect", "image": "x:1"}]}
    job: Manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"namespace": subject.namespace, "name": "look"},
        "spec": {"suspend": True, "backoffLimit": 0, "template": {"spec": pod}},
    }
    made = await subject.cluster.post(job, manager=OPERATOR)
    assert (uid_of(made) != "", made["spec"]["parallelism"]) == (True, 1)
    with pytest.raises(Conflict):
        await subject.cluster.post({**job, "metadata": {**job["metadata"], "labels": {"a": "1"}}}, manager=OPERATOR)
    live = await subject.live("Job", "look")
    assert (uid_of(live), "a" in live["metadata"].get("labels", {})) == (uid_of(made), False)
    await subject.cluster.delete(ref_of(job), uid=uid_of(made))
    assert await subject.cluster.get(ref_of(job)) is None


@pytest.mark.parametrize("kind", ["Service", "Deployment", "PodDisruptionBudget", "NetworkPolicy"])
async def test_what_was_made_new_belongs_to_its_maker_as_after_any_apply(subject: Subject, kind: str) -> None:
    made = await subject.cluster.apply_new(_child(subject, kind), manager=OPERATOR)
    owners = [(entry["manager"], entry["operation"]) for entry in made["metadata"]["managedFields"]]
    without = await subject.apply(_bare(_child(subject, kind)), manager=OPERATOR)

    assert owners == [(OPERATOR, "Apply")]
    assert "labels" not in without["metadata"]


@pytest.mark.parametrize("write", ["apply", "overwrite"])
async def test_nothing_is_written_by_force_without_a_uid(subject: Subject, write: str) -> None:
    made = await subject.cluster.apply_new(subject.service(), manager=OPERATOR)
    with pytest.raises(ValueError, match="UID"):
        await getattr(subject.cluster, write)(subject.service(labels={"a": "1"}), manager=OPERATOR)
    assert await subject.live("Service") == made


def _child(subject: Subject, kind: str) -> Manifest:
    """An object with a label, of a kind that the operator makes."""
    match = {"matchLabels": {"app": "chat"}}
    specs = {
        "PodDisruptionBudget": {"maxUnavailable": 1, "selector": match},
        "NetworkPolicy": {"podSelector": match, "policyTypes": ["Ingress"]},
    }
    whole = {"Service": subject.service(), "Deployment": subject.deployment(replicas=0)}
    body = whole.get(kind) or {"apiVersion": KINDS[kind].api_version, "kind": kind, "spec": specs[kind]}
    metadata = {"namespace": subject.namespace, "name": "chat", "labels": {"llmservice.dev/name": "chat"}}
    return {**body, "metadata": metadata}


def _of_its_maker(live: Manifest) -> Manifest:
    """All but what Kubernetes' controllers write into it meanwhile: its status, and the revision of a Deployment."""
    counted = {"annotations", "managedFields", "resourceVersion"} if live["kind"] != "Service" else set()
    metadata = {key: value for key, value in live["metadata"].items() if key not in counted}
    managers = {entry["manager"] for entry in live["metadata"]["managedFields"]} - {"kube-controller-manager"}
    return {"metadata": metadata, "spec": live["spec"], "managers": managers}


def _bare(manifest: Manifest) -> Manifest:
    """The same without what it shares with nobody: no label; of a Service no selector either."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "labels"}
    spec = {key: value for key, value in manifest["spec"].items() if (manifest["kind"], key) != ("Service", "selector")}
    return {**manifest, "metadata": metadata, "spec": spec}


async def test_a_uid_of_an_object_that_is_gone_is_a_conflict(subject: Subject) -> None:
    with pytest.raises(Conflict):
        await subject.cluster.apply(subject.service(uid="11111111-1111-4111-8111-111111111111"), manager=OPERATOR)
    assert await subject.cluster.get(subject.ref("Service")) is None


async def test_a_uid_of_another_object_is_a_conflict(subject: Subject) -> None:
    await subject.apply(subject.service(labels={"a": "1"}), manager=OPERATOR)
    with pytest.raises(Conflict):
        await subject.cluster.apply(subject.service(uid="11111111-1111-4111-8111-111111111111"), manager=OPERATOR)
    assert (await subject.live("Service"))["metadata"]["labels"] == {"a": "1"}


async def test_an_outdated_resource_version_is_a_conflict(subject: Subject) -> None:
    first = await subject.apply(subject.service(), manager=OPERATOR)
    await subject.patch(subject.ref("Service"), {"metadata": {"labels": {"a": "theirs"}}})
    version = first["metadata"]["resourceVersion"]

    with pytest.raises(Conflict):
        await subject.apply(subject.service(resourceVersion=version, labels={"a": "ours"}), manager=OPERATOR)


async def test_a_matching_uid_and_resource_version_are_no_obstacle(subject: Subject) -> None:
    first = await subject.apply(subject.service(), manager=OPERATOR)
    known = {key: first["metadata"][key] for key in ("uid", "resourceVersion")}
    applied = await subject.cluster.apply(subject.service(**known, labels={"a": "1"}), manager=OPERATOR)

    assert applied["metadata"]["labels"] == {"a": "1"}


async def test_what_the_server_forbids_is_refused_with_its_words(subject: Subject) -> None:
    await subject.apply(subject.deployment(), manager=OPERATOR)
    with pytest.raises(Refused, match=r"spec\.selector.*field is immutable"):
        await subject.apply(subject.deployment() | _other_selector(subject), manager=OPERATOR)


def _other_selector(subject: Subject) -> Manifest:
    return {"spec": {**subject.deployment("other")["spec"]}}


async def test_the_scale_of_what_is_gone_is_a_conflict(subject: Subject) -> None:
    with pytest.raises(Conflict):
        await subject.cluster.apply_scale(subject.ref(), 2, manager=AUTOSCALER)


async def test_the_scale_of_another_object_of_the_same_name_is_a_conflict(subject: Subject) -> None:
    await subject.apply(subject.deployment(replicas=1), manager=OPERATOR)
    with pytest.raises(Conflict):
        await subject.cluster.apply_scale(subject.ref(), 2, manager=AUTOSCALER, uid="an-earlier-one")
    assert await subject.replicas() == 1


async def test_the_status_of_what_is_gone_is_none(subject: Subject) -> None:
    intent = _status(subject, "Ours") | {"apiVersion": "apps/v1", "kind": "Deployment"}

    assert await subject.cluster.apply_status(intent, manager=OPERATOR) is None


async def test_apply_status_writes_the_status_alone(subject: Subject) -> None:
    await subject.apply(subject.service(), manager=OPERATOR)
    intent = _status(subject, "Ours") | {"spec": {"sessionAffinity": "ClientIP"}}
    applied = await subject.cluster.apply_status(intent, manager=OPERATOR)

    assert applied is not None
    assert [condition["type"] for condition in applied["status"]["conditions"]] == ["Ours"]
    assert applied["spec"]["sessionAffinity"] == "None"


async def test_apply_leaves_the_status_alone(subject: Subject) -> None:
    await subject.apply(subject.service(), manager=OPERATOR)
    await subject.cluster.apply_status(_status(subject, "Ours"), manager=OPERATOR)
    applied = await subject.apply(subject.service(labels={"a": "1"}), manager=OPERATOR)

    assert [condition["type"] for condition in applied["status"]["conditions"]] == ["Ours"]


async def test_conditions_of_others_survive(subject: Subject) -> None:
    await subject.apply(subject.service(), manager=OPERATOR)
    await subject.cluster.apply_status(_status(subject, "Theirs"), manager="somebody")
    await subject.cluster.apply_status(_status(subject, "Ours"), manager=OPERATOR)
    applied = await subject.cluster.apply_status(_status(subject, "Renamed"), manager=OPERATOR)

    assert applied is not None
    assert {condition["type"] for condition in applied["status"]["conditions"]} == {"Theirs", "Renamed"}


async def test_a_status_for_a_predecessor_is_a_conflict(subject: Subject) -> None:
    await subject.apply(subject.service(), manager=OPERATOR)
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
    applied = await subject.apply(subject.service(), manager=OPERATOR)
    await subject.cluster.delete(subject.ref("Service"), uid=uid_of(applied))

    assert await subject.cluster.get(subject.ref("Service")) is None


async def test_delete_of_what_is_gone_does_nothing(subject: Subject) -> None:
    await subject.cluster.delete(subject.ref("Service"), uid="11111111-1111-4111-8111-111111111111")

    assert await subject.cluster.get(subject.ref("Service")) is None


async def test_delete_never_takes_a_successor(subject: Subject) -> None:
    await subject.apply(subject.service(), manager=OPERATOR)
    with pytest.raises(Conflict):
        await subject.cluster.delete(subject.ref("Service"), uid="11111111-1111-4111-8111-111111111111")

    assert await subject.cluster.get(subject.ref("Service")) is not None


def _a_pod(subject: Subject) -> Manifest:
    """One that is never placed."""
    nothing = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True}
    container = {"name": "engine", "image": "registry.test/engine:1", "securityContext": nothing}
    spec = {
        "containers": [container],
        "schedulingGates": [{"name": "llmservice.dev/never"}],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": subject.namespace, "name": "chat"},
        "spec": spec,
    }


async def test_an_eviction_takes_the_pod_with_this_uid(subject: Subject) -> None:
    made = await subject.create(_a_pod(subject))
    await subject.cluster.evict(subject.ref("Pod"), uid=uid_of(made), grace_seconds=0)

    assert await subject.cluster.get(subject.ref("Pod")) is None


async def test_an_eviction_never_takes_a_successor_and_does_nothing_to_what_is_gone(subject: Subject) -> None:
    another = "11111111-1111-4111-8111-111111111111"
    await subject.cluster.evict(subject.ref("Pod"), uid=another, grace_seconds=0)
    await subject.create(_a_pod(subject))
    with pytest.raises(Conflict):
        await subject.cluster.evict(subject.ref("Pod"), uid=another, grace_seconds=0)

    assert await subject.cluster.get(subject.ref("Pod")) is not None


async def test_a_dependent_goes_with_its_owner(subject: Subject) -> None:
    owner = await subject.apply(subject.service("owner"), manager=OPERATOR)
    reference = {"apiVersion": "v1", "kind": "Service", "name": "owner", "uid": uid_of(owner), "controller": True}
    await subject.apply(subject.service("dependent", ownerReferences=[reference]), manager=OPERATOR)
    await subject.cluster.delete(subject.ref("Service", "owner"), uid=uid_of(owner))

    async with asyncio.timeout(20):
        while await subject.cluster.get(subject.ref("Service", "dependent")) is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def test_list_selects_by_label_and_names_the_kind(subject: Subject) -> None:
    await subject.apply(subject.service("one", labels={"llmservice.dev/name": "one"}), manager=OPERATOR)
    await subject.apply(subject.service("two", labels={"llmservice.dev/name": "two"}), manager=OPERATOR)
    await subject.apply(subject.service("foreign"), manager=OPERATOR)

    async def names(selector: str) -> list[str]:
        found = await subject.cluster.list("Service", subject.namespace, label_selector=selector)
        assert {(live["apiVersion"], live["kind"]) for live in found} == {("v1", "Service")}
        return sorted(live["metadata"]["name"] for live in found)

    assert await names("") == ["foreign", "one", "two"]
    assert await names("llmservice.dev/name") == ["one", "two"]
    assert await names("llmservice.dev/name=two") == ["two"]


async def test_list_without_a_namespace_looks_everywhere(subject: Subject) -> None:
    await subject.apply(subject.service(), manager=OPERATOR)
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
    assert await subject.cluster.log_head(subject.ref("Pod"), "engine") == ""
