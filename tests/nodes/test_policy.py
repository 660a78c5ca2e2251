"""What the operator's token is worth where there are LeaderWorkerSets: both pod templates are held to the rules."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.kube import Body, Kube, Rejected
from tests.golden.cases import CASES
from tests.nodes.played import a_group

pytestmark = [pytest.mark.nodes, pytest.mark.sandbox]

_CASES = [case for case in CASES if case.folder.name.endswith("-two-nodes")]


@pytest.fixture
def thief(kube: Kube, groups: None, token: Path) -> Kube:  # noqa: ARG001  (the kind must be there)
    """Whoever has the operator's token, where an LLMService `chat` is."""
    kube.create(a_group(suspend=True))
    return Kube.connect(token, kube.kubectl_path).within(kube.namespace)


def rendered(case: Any, kube: Kube) -> Body:
    """The LeaderWorkerSet of a golden case as a child of `chat`."""
    bodies = yaml.safe_load_all(case.manifests.read_text("utf-8"))
    body: Body = next(body for body in bodies if body["kind"] == "LeaderWorkerSet")
    name = body["metadata"]["name"]
    owner = kube.get("LLMService", "chat")
    assert owner is not None
    reference = {"apiVersion": "llmservice.dev/v1alpha1", "kind": "LLMService", "name": name, "controller": True}
    metadata = {"name": name, "labels": body["metadata"]["labels"], "namespace": kube.namespace}
    return {**body, "metadata": {**metadata, "ownerReferences": [{**reference, "uid": owner["metadata"]["uid"]}]}}


def refusal(kube: Kube, body: Body) -> str:
    try:
        kube.create(body, dry_run=True)
    except Rejected as rejected:
        return str(rejected)
    return ""


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.folder.name)
def test_what_the_operator_renders_is_admitted(kube: Kube, thief: Kube, case: Any) -> None:
    assert refusal(thief, rendered(case, kube)) == ""


def pod(template: str) -> Callable[[Body], Body]:
    return lambda spec: spec["leaderWorkerTemplate"][template]["spec"]


def engine(template: str) -> Callable[[Body], Body]:
    return lambda spec: pod(template)(spec)["containers"][0]


_ATTEMPTS: dict[str, Callable[[Body, str], Any]] = {
    "rule host": lambda spec, of: pod(of)(spec).update(hostNetwork=True),
    "rule volumes": lambda spec, of: pod(of)(spec)["volumes"].append({"name": "etc", "hostPath": {"path": "/etc"}}),
    "rule token": lambda spec, of: pod(of)(spec).update(automountServiceAccountToken=True),
    "rule privilege": lambda spec, of: engine(of)(spec).update(securityContext={"privileged": True}),
    "rule containers": lambda spec, of: pod(of)(spec).update(nodeName="node"),
    "rule annotations": lambda spec, of: spec["leaderWorkerTemplate"][of]["metadata"]["annotations"].update(
        {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}
    ),
}


@pytest.mark.parametrize("template", ["leaderTemplate", "workerTemplate"])
@pytest.mark.parametrize("rule", _ATTEMPTS)
def test_neither_template_reaches_beyond_its_namespace(kube: Kube, thief: Kube, template: str, rule: str) -> None:
    body = copy.deepcopy(rendered(_CASES[0], kube))
    _ATTEMPTS[rule](body["spec"], template)
    assert rule in refusal(thief, body)


def test_groups_bring_no_claims_with_them(kube: Kube, thief: Kube) -> None:
    body = copy.deepcopy(rendered(_CASES[0], kube))
    claim = {"metadata": {"name": "cache"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    body["spec"]["leaderWorkerTemplate"]["volumeClaimTemplates"] = [claim]
    assert "rule volumes" in refusal(thief, body)


def test_groups_of_others_are_not_made_nor_scaled(kube: Kube, thief: Kube) -> None:
    body = rendered(_CASES[0], kube)
    foreign = {**body, "metadata": {key: body["metadata"][key] for key in ("name", "labels", "namespace")}}
    assert "rule owner" in refusal(thief, foreign)
    kube.create({**foreign, "spec": {**body["spec"], "replicas": 0}})
    with pytest.raises(Rejected):
        thief.patch("LeaderWorkerSet", foreign["metadata"]["name"], {"spec": {"replicas": 5}}, sub="scale")
    with pytest.raises(Rejected, match="rule owner"):
        thief.patch("LeaderWorkerSet", foreign["metadata"]["name"], {"spec": {"replicas": 5}})
    kube.delete("LeaderWorkerSet", foreign["metadata"]["name"])
