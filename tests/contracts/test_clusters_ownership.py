"""Both clusters share fields among owners alike: server-side apply, and replicas above all."""

from collections.abc import Callable

import pytest

from llmservice.converging.replicas import owned_by_another
from llmservice.errors import Conflict, Refused
from llmservice.objects.names import AUTOSCALER, OPERATOR
from llmservice.objects.references import Manifest, ref_of
from tests.contracts.clusters import Subject


def _a_service(subject: Subject) -> Manifest:
    return subject.service()


def _a_budget(subject: Subject) -> Manifest:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "chat"}}}
    return {**subject.service(), "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": spec}


def _a_policy(subject: Subject) -> Manifest:
    spec = {"podSelector": {"matchLabels": {"app": "chat"}}, "policyTypes": ["Ingress"]}
    return {**subject.service(), "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": spec}


async def test_the_same_apply_again_changes_nothing(subject: Subject) -> None:
    first = await subject.apply(subject.service(), manager=OPERATOR)
    again = await subject.apply(subject.service(), manager=OPERATOR)

    assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_a_field_dropped_by_its_only_owner_disappears(subject: Subject) -> None:
    await subject.apply(subject.service(labels={"a": "1", "b": "2"}), manager=OPERATOR)
    applied = await subject.apply(subject.service(labels={"a": "1"}), manager=OPERATOR)

    assert applied["metadata"]["labels"] == {"a": "1"}


async def test_a_map_emptied_by_its_only_owner_disappears(subject: Subject) -> None:
    await subject.apply(subject.service(annotations={"a": "1"}), manager=OPERATOR)
    applied = await subject.apply(subject.service(), manager=OPERATOR)

    assert "annotations" not in applied["metadata"]


async def test_a_field_dropped_by_one_of_two_owners_stays(subject: Subject) -> None:
    await subject.apply(subject.service(labels={"a": "1"}), manager=OPERATOR)
    await subject.apply(subject.service(labels={"a": "1"}), manager="somebody")
    applied = await subject.apply(subject.service(), manager=OPERATOR)

    assert applied["metadata"]["labels"] == {"a": "1"}


async def test_a_foreign_annotation_survives(subject: Subject) -> None:
    await subject.apply(subject.service(annotations={"ours": "1"}), manager=OPERATOR)
    await subject.patch(subject.ref("Service"), {"metadata": {"annotations": {"theirs": "x"}}})
    applied = await subject.apply(subject.service(), manager=OPERATOR)

    assert applied["metadata"]["annotations"] == {"theirs": "x"}


async def test_a_value_changed_by_other_hands_is_taken_back(subject: Subject) -> None:
    await subject.apply(subject.service(labels={"a": "ours"}), manager=OPERATOR)
    await subject.patch(subject.ref("Service"), {"metadata": {"labels": {"a": "theirs"}}})
    applied = await subject.apply(subject.service(labels={"a": "ours"}), manager=OPERATOR)

    assert applied["metadata"]["labels"] == {"a": "ours"}
    assert [entry["manager"] for entry in applied["metadata"]["managedFields"]] == [OPERATOR]


async def test_lists_with_keys_are_merged_element_by_element(subject: Subject) -> None:
    with_ours = {"name": "engine", "image": "registry.test/engine:1", "env": [{"name": "OURS", "value": "1"}]}
    with_theirs = {"name": "engine", "image": "registry.test/engine:1", "env": [{"name": "THEIRS", "value": "2"}]}
    await subject.apply(subject.deployment(container=with_ours), manager=OPERATOR)
    await subject.apply(subject.deployment(container=with_theirs), manager="somebody")
    live = await subject.live()

    names = {variable["name"] for variable in live["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert names == {"OURS", "THEIRS"}


async def test_an_element_dropped_by_its_only_owner_disappears(subject: Subject) -> None:
    engine = {"name": "engine", "image": "registry.test/engine:1"}
    variables = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    await subject.apply(subject.deployment(container={**engine, "env": variables}), manager=OPERATOR)
    await subject.apply(subject.deployment(container={**engine, "env": variables[:1]}), manager=OPERATOR)
    live = await subject.live()

    assert live["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "A", "value": "1"}]


async def test_an_element_of_another_key_replaces_ours_alone(subject: Subject) -> None:
    sidecar = {"name": "sidecar", "image": "registry.test/sidecar:1"}
    await subject.apply(subject.deployment(), manager=OPERATOR)
    await subject.apply(subject.deployment(container=sidecar), manager="somebody")
    renamed = {"name": "other", "image": "registry.test/engine:1"}
    applied = await subject.apply(subject.deployment(container=renamed), manager=OPERATOR)

    containers = applied["spec"]["template"]["spec"]["containers"]
    assert {container["name"] for container in containers} == {"other", "sidecar"}


async def test_what_others_put_into_our_element_goes_with_it(subject: Subject) -> None:
    engine = {"name": "engine", "image": "registry.test/engine:1"}
    await subject.apply(subject.deployment(container=engine), manager=OPERATOR)
    containers = [{**engine, "env": [{"name": "THEIRS", "value": "2"}]}]
    await subject.patch(subject.ref(), {"spec": {"template": {"spec": {"containers": containers}}}})
    applied = await subject.apply(subject.deployment(container={**engine, "name": "other"}), manager=OPERATOR)

    assert [container["name"] for container in applied["spec"]["template"]["spec"]["containers"]] == ["other"]
    assert "kubectl-edit" not in {entry["manager"] for entry in applied["metadata"]["managedFields"]}


async def test_lists_without_keys_are_replaced(subject: Subject) -> None:
    engine = {"name": "engine", "image": "registry.test/engine:1"}
    await subject.apply(subject.deployment(container={**engine, "args": ["--a", "--b"]}), manager=OPERATOR)
    applied = await subject.apply(subject.deployment(container={**engine, "args": ["--b"]}), manager=OPERATOR)

    assert applied["spec"]["template"]["spec"]["containers"][0]["args"] == ["--b"]


async def test_the_server_fills_in_what_is_not_stated(subject: Subject) -> None:
    applied = await subject.apply(subject.deployment(), manager=OPERATOR)
    spec = applied["spec"]
    pod = spec["template"]["spec"]

    assert spec["replicas"] == 1
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": "25%"}
    assert (pod["terminationGracePeriodSeconds"], pod["dnsPolicy"]) == (30, "ClusterFirst")
    assert pod["containers"][0]["imagePullPolicy"] == "IfNotPresent"


async def test_a_change_of_the_spec_raises_the_generation(subject: Subject) -> None:
    await subject.apply(subject.deployment(replicas=0), manager=OPERATOR)
    applied = await subject.apply(subject.deployment(replicas=2), manager=OPERATOR)

    assert applied["metadata"]["generation"] == 2


async def test_a_label_leaves_the_generation_alone_and_an_annotation_of_a_deployment_does_not(subject: Subject) -> None:
    await subject.apply(subject.deployment(), manager=OPERATOR)
    await subject.patch(subject.ref(), {"metadata": {"labels": {"a": "1"}}})
    labelled = await subject.live()
    await subject.patch(subject.ref(), {"metadata": {"annotations": {"a": "1"}}})
    annotated = await subject.live()

    assert (labelled["metadata"]["generation"], annotated["metadata"]["generation"]) == (1, 2)


async def test_the_only_owner_of_replicas_that_drops_them_gets_one(subject: Subject) -> None:
    await subject.apply(subject.deployment(replicas=5), manager=OPERATOR)
    await subject.apply(subject.deployment(), manager=OPERATOR)

    assert await subject.replicas() == 1


async def test_the_scale_takes_replicas_over_by_force(subject: Subject) -> None:
    await subject.apply(subject.deployment(replicas=1), manager=OPERATOR)
    await subject.cluster.apply_scale(subject.ref(), 4, manager=AUTOSCALER)
    live = await subject.live()

    assert live["spec"]["replicas"] == 4
    assert owned_by_another(live)


async def test_replicas_stay_when_the_operator_drops_them_after_a_take_over(subject: Subject) -> None:
    await subject.apply(subject.deployment(replicas=1), manager=OPERATOR)
    await subject.cluster.apply_scale(subject.ref(), 4, manager=AUTOSCALER)
    await subject.apply(subject.deployment(), manager=OPERATOR)

    assert await subject.replicas() == 4


async def test_replicas_equal_to_ours_are_shared_and_stay_when_we_drop_them(subject: Subject) -> None:
    await subject.apply(subject.deployment(replicas=3), manager=OPERATOR)
    await subject.cluster.apply_scale(subject.ref(), 3, manager=AUTOSCALER)
    await subject.apply(subject.deployment(), manager=OPERATOR)

    assert await subject.replicas() == 3


async def test_the_operator_takes_replicas_back_by_stating_them(subject: Subject) -> None:
    await subject.apply(subject.deployment(replicas=1), manager=OPERATOR)
    await subject.cluster.apply_scale(subject.ref(), 4, manager=AUTOSCALER)
    applied = await subject.apply(subject.deployment(replicas=2), manager=OPERATOR)

    assert applied["spec"]["replicas"] == 2
    assert not owned_by_another(applied)


async def test_kubectl_scale_owns_replicas_and_keeps_them(subject: Subject) -> None:
    await subject.apply(subject.deployment(replicas=1), manager=OPERATOR)
    await subject.patch(subject.ref(), {"spec": {"replicas": 6}}, manager="kubectl", subresource="scale")
    assert owned_by_another(await subject.live())
    await subject.apply(subject.deployment(), manager=OPERATOR)

    assert await subject.replicas() == 6


async def test_defaulted_replicas_belong_to_nobody(subject: Subject) -> None:
    applied = await subject.apply(subject.deployment(), manager=OPERATOR)

    assert not owned_by_another(applied)


async def test_foreign_elements_that_contradict_ours_are_refused_and_can_be_overwritten(subject: Subject) -> None:
    """Somebody gives our port another number: both would have the same name."""
    intent = subject.service()
    await subject.apply(intent, manager=OPERATOR)
    await subject.patch(subject.ref("Service"), {"spec": {"ports": [{"name": "http", "port": 9999}]}})
    with pytest.raises(Refused):
        await subject.apply(intent, manager=OPERATOR)
    live = await subject.cluster.overwrite(await subject.known(intent), manager=OPERATOR)
    assert [port["port"] for port in live["spec"]["ports"]] == [80]


async def test_overwriting_leaves_foreign_fields_outside_our_lists_alone(subject: Subject) -> None:
    await subject.apply(subject.service(), manager=OPERATOR)
    await subject.patch(subject.ref("Service"), {"metadata": {"annotations": {"team": "search"}}})
    live = await subject.cluster.overwrite(await subject.known(subject.service()), manager=OPERATOR)
    assert live["metadata"]["annotations"]["team"] == "search"


async def test_what_is_gone_cannot_be_overwritten(subject: Subject) -> None:
    with pytest.raises(Conflict):
        await subject.cluster.overwrite(subject.service(uid="11111111-1111-4111-8111-111111111111"), manager=OPERATOR)


async def test_what_the_intent_gives_as_none_is_taken_away_whoever_owns_it(subject: Subject) -> None:
    await subject.apply(subject.service(), manager=OPERATOR)
    await subject.patch(subject.ref("Service"), {"metadata": {"annotations": {"team": "search"}}})
    intent = await subject.known(subject.service(annotations={"team": None}))
    live = await subject.cluster.overwrite(intent, manager=OPERATOR)
    assert "team" not in live["metadata"].get("annotations", {})


@pytest.mark.parametrize(
    ("manifest", "path"),
    [
        (_a_budget, ("spec", "selector", "matchLabels")),
        (_a_policy, ("spec", "podSelector", "matchLabels")),
        (_a_service, ("spec", "selector")),
    ],
)
async def test_a_selector_is_replaced_whole_by_a_forced_apply(
    subject: Subject, manifest: Callable[[Subject], Manifest], path: tuple[str, ...]
) -> None:
    """A key that somebody adds leaves no pod behind it: it must not survive."""
    intent = manifest(subject)
    await subject.apply(intent, manager=OPERATOR)
    change: Manifest = {"extra": "theirs"}
    for step in reversed(path):
        change = {step: change}
    await subject.patch(ref_of(intent), change)
    selector: Manifest = await subject.apply(intent, manager=OPERATOR)
    for step in path:
        selector = selector[step]

    assert selector == {"app": "chat"}
