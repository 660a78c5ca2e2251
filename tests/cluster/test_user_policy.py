"""The optional admission policy for those who write LLMServices: an API server's own answer to each edit."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.cluster.conftest import ROOT
from tests.cluster.kube import Kube, Rejected
from tests.cluster.services import a_tiny_service

pytestmark = pytest.mark.cluster

FILE = ROOT / "manifests/components/user-policy/user-policy.yaml"
REMOTE_CODE = {"model": {"uri": "hf://acme/chat", "trustRemoteCode": True}, "engine": "vllm"}
PREFIXES = '["registry.example/team", "registry.example:5000"]'


def own_image(image: str) -> dict[str, Any]:
    """A spec with an image of one's own."""
    return {"engineOptions": {"image": image, "version": "b11312"}}


def installed(kube: Kube, **allowed: str) -> None:
    """Install the policy for this namespace alone and wait until it acts; `allowed` are its variables."""
    policy, binding = yaml.safe_load_all(FILE.read_text())
    for body in (policy, binding):
        body["metadata"]["name"] += f".{kube.namespace}"
    for variable in policy["spec"]["variables"]:
        variable["expression"] = allowed.get(variable["name"], variable["expression"])
    here = {"matchLabels": {"kubernetes.io/metadata.name": kube.namespace}}
    spec = {**binding["spec"], "policyName": policy["metadata"]["name"], "matchResources": {"namespaceSelector": here}}
    for body in (policy, {**binding, "spec": spec}):
        kube.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(body))
    refused = own_image("elsewhere.example/x") if "remoteCode" in allowed else REMOTE_CODE
    kube.wait(lambda: answer(kube, **refused) != "", lambda: answer(kube, **refused))


def answer(kube: Kube, **spec: Any) -> str:
    """What the API server says to somebody who would create this; empty when it would be done."""
    try:
        kube.create(a_tiny_service(**spec), dry_run=True)
    except Rejected as rejected:
        return str(rejected)
    return ""


@pytest.fixture
def team(quiet: Kube) -> Iterator[Kube]:
    """A namespace whose policy goes with it."""
    yield quiet
    for kind in ("validatingadmissionpolicy", "validatingadmissionpolicybinding"):
        quiet.kubectl("delete", "--ignore-not-found", kind, f"llmservice-users.{quiet.namespace}")


@pytest.fixture
def prefixed(team: Kube) -> Kube:
    """A namespace with images by prefix, and with remote code."""
    installed(team, ownImages="true", imagePrefixes=PREFIXES, remoteCode="true")
    return team


def test_as_it_is_shipped_no_image_of_ones_own_and_no_remote_code_run(team: Kube) -> None:
    installed(team)
    assert "images of one's own are not allowed" in answer(team, **own_image("registry.example/team/engine:1"))
    assert "code of a model's repository is not allowed" in answer(team, **REMOTE_CODE)
    assert answer(team) == ""


@pytest.mark.parametrize(
    ("image", "passes"),
    [
        ("registry.example/team/engine:1", True),
        ("registry.example/team:1", True),
        ("registry.example/team@sha256:" + "0" * 64, True),
        ("registry.example:5000/any:1", True),
        ("registry.example/team-2/engine:1", False),
        ("registry.example/other:1", False),
        ("registry.example:50001/any:1", False),
        ("docker.io/registry.example/team/engine:1", False),
        ("team/engine:1", False),
    ],
)
def test_images_pass_by_their_prefix(prefixed: Kube, image: str, passes: bool) -> None:
    said = answer(prefixed, **own_image(image))
    assert said == "" if passes else "must begin with registry.example/team or registry.example:5000" in said


def test_what_is_switched_off_is_not_asked(prefixed: Kube) -> None:
    assert answer(prefixed, **REMOTE_CODE) == ""


def test_an_edit_is_asked_and_a_deletion_goes_on(team: Kube) -> None:
    """Also where somebody's finalizer holds it: its removal is an edit."""
    team.create(a_tiny_service("old", suspend=True, **own_image("elsewhere.example/x:1")))
    team.patch("LLMService", "old", {"metadata": {"finalizers": ["example.com/wait"]}})
    installed(team)
    with pytest.raises(Rejected, match="images of one's own"):
        team.patch("LLMService", "old", {"spec": {"suspend": False}})
    team.delete("LLMService", "old")
    team.patch("LLMService", "old", {"metadata": {"finalizers": None}})
    assert team.get("LLMService", "old") is None
