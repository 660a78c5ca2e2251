"""The CRD on a real API server: accepted, within its budget, and of one mind with the types."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmservice.api.crd import crd_manifest
from llmservice.api.v1alpha1.base import VALIDATIONS
from llmservice.api.v1alpha1.quantity import canonical
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.engines.registry import ENGINES
from tests.architecture.test_crd import SCHEMA, nodes
from tests.builders import an_llmservice
from tests.cluster.kube import Kube, Rejected
from tests.unit.api.cases import ACCEPTED, REFUSED, Refused, name_of, refusal
from tests.unit.api.test_quantity import CANONICAL

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "manifests" / "examples").glob("*.yaml"))
BEFORE_RULES = ("must be of type", "Unsupported value")
MESSAGES = {rule["message"] for _, node in nodes(SCHEMA, "") for rule in node.get(VALIDATIONS, ())}


def submitted(kube: Kube, changes: dict[str, Any]) -> dict[str, Any]:
    """Send it as a dry run; what the API server would store."""
    own = {"metadata__namespace": kube.namespace, "metadata__uid": None, "metadata__generation": None}
    return kube.create(an_llmservice(**own, **changes), dry_run=True)


def test_is_established_without_complaint(cluster: Kube) -> None:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llmservices.llmservice.dev"
    conditions = cluster.request("GET", path)["status"]["conditions"]
    assert {item["type"]: item["status"] for item in conditions} == {"NamesAccepted": "True", "Established": "True"}


def test_the_rules_cost_less_than_a_quarter_of_the_budget(cluster: Kube) -> None:
    crd = crd_manifest(sorted(ENGINES))
    for _, node in nodes(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"], ""):
        for rule in node.get(VALIDATIONS, ()):
            rule["rule"] = " && ".join([f"({rule['rule']})"] * 4)
    arguments = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-")
    assert "serverside-applied" in cluster.kubectl(*arguments, stdin=json.dumps(crd))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_an_example_comes_back_as_it_was_written(quiet: Kube, file: Path) -> None:
    printed = quiet.kubectl("apply", "--dry-run=server", "--validate=strict", "-o", "json", "-f", str(file))
    stored = LLMService.parse(json.loads(printed)).spec
    assert stored == LLMService.parse(yaml.safe_load(file.read_text())).spec


def test_the_api_server_accepts_what_the_types_accept(quiet: Kube) -> None:
    refused = {}
    for changes in ACCEPTED:
        try:
            submitted(quiet, changes)
        except Rejected as rejected:
            refused[name_of(changes)] = str(rejected)
    assert refused == {}


def test_the_api_server_refuses_what_the_types_refuse(quiet: Kube) -> None:
    assert {name_of(case): answer for case in REFUSED if (answer := disagreement(quiet, case))} == {}


def disagreement(kube: Kube, case: Refused) -> str:
    """What the API server answers when it does not agree: the field must be the same, and the words of a rule too.

    Rules speak only where types and enums have nothing to say.
    """
    try:
        submitted(kube, case.changes)
    except Rejected as rejected:
        answer = json.loads(str(rejected).partition(": ")[2])["message"]
        field = case.field.partition("['")[0]
        said = [message for message in MESSAGES if message in refusal(case.changes)]
        same_words = all(message in answer for message in said) or any(words in answer for words in BEFORE_RULES)
        return "" if field in answer and same_words else answer
    return "accepted"


def test_the_status_of_a_new_one_counts_as_unfinished(quiet: Kube) -> None:
    created = quiet.create(an_llmservice(metadata__namespace=quiet.namespace, metadata__uid=None))
    assert created["status"] == {"observedGeneration": -1}


def test_scales_when_replicas_are_set(quiet: Kube) -> None:
    quiet.create(an_llmservice(metadata__namespace=quiet.namespace, metadata__uid=None, spec__replicas=1))
    quiet.kubectl("scale", "llm", "chat", "--replicas=3")
    body = quiet.get("LLMService", "chat")
    assert body is not None
    assert body["spec"]["replicas"] == 3


def test_is_listed_with_the_columns_of_the_api(kube: Kube) -> None:
    kube.create(an_llmservice(metadata__namespace=kube.namespace, metadata__uid=None, spec__suspend=True))
    kube.wait_ready("chat", reason="Suspended")
    head, row = (line.split() for line in kube.kubectl("get", "llm", "-o", "wide").splitlines())
    assert head == ["NAME", "READY", "REASON", "REPLICAS", "ENGINE", "MODEL", "PROGRESS", "GPU", "URL", "AGE"]
    assert row[:6] == ["chat", "True", "Suspended", "0/0", "llamacpp", "pvc://models/tiny.gguf"]


def test_every_field_is_explained(quiet: Kube) -> None:
    assert "Devices per replica" in quiet.kubectl("explain", "llm.spec.gpu")


def test_canonical_quantities_are_stored_as_they_are(quiet: Kube) -> None:
    amounts = sorted({canonical(text) for text in CANONICAL})
    containers = [
        {"name": f"c{number}", "image": "a", "resources": {"limits": {"memory": amount}}}
        for number, amount in enumerate(amounts)
    ]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "amounts"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    stored = quiet.create(deployment, dry_run=True)["spec"]["template"]["spec"]["containers"]
    assert [container["resources"]["limits"]["memory"] for container in stored] == amounts
