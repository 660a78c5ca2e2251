"""The CRD: generated, structural, bounded, described, and each of its rules shown to refuse something."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from llmservice.api.crd import COLUMNS, crd_manifest, crd_yaml
from llmservice.api.v1alpha1.base import VALIDATIONS
from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cli.crd import command
from llmservice.engines.registry import ENGINES
from tests.unit.api.cases import REFUSED, refusal

ROOT = Path(__file__).parents[2]
CRD = crd_manifest(sorted(ENGINES))
(VERSION,) = CRD["spec"]["versions"]
SCHEMA = VERSION["schema"]["openAPIV3Schema"]
EXAMPLES = sorted((ROOT / "manifests" / "examples").glob("*.yaml"))

Node = tuple[str, dict[str, Any]]


def nodes(schema: dict[str, Any], path: str) -> Iterator[Node]:
    yield path, schema
    for name, part in schema.get("properties", {}).items():
        yield from nodes(part, f"{path}.{name}")
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield from nodes(schema[keyword], f"{path}[]")


NODES = [node for part in ("spec", "status") for node in nodes(SCHEMA["properties"][part], part)]


def where(condition: Any) -> list[str]:
    return [path for path, node in NODES if condition(node)]


def test_the_file_is_what_the_types_say() -> None:
    file = ROOT / "crds" / "llmservices.llmservice.dev.yaml"
    assert file.read_text() == crd_yaml(sorted(ENGINES)), "run: make crds"


@pytest.mark.parametrize(("form", "read"), [("yaml", yaml.safe_load), ("json", json.loads)])
def test_the_verb_prints_it(form: str, read: Callable[[str], Any]) -> None:
    assert read(CliRunner().invoke(command, ["--output", form]).output) == CRD


def test_the_file_has_no_anchors() -> None:
    assert "&id0" not in crd_yaml(sorted(ENGINES))


def test_fits_into_an_annotation_of_kubectl_apply_with_room() -> None:
    assert len(json.dumps(CRD, separators=(",", ":"))) < 150_000


def test_the_engines_are_those_of_the_registry() -> None:
    assert SCHEMA["properties"]["spec"]["properties"]["engine"]["enum"] == sorted(ENGINES)


@pytest.mark.parametrize(
    "keyword", ["$ref", "$defs", "title", "const", "exclusiveMinimum", "exclusiveMaximum", "propertyNames", "nullable"]
)
def test_has_no_keyword_that_is_not_structural(keyword: str) -> None:
    assert where(lambda node: keyword in node) == []


def test_unions_are_only_those_of_quantities() -> None:
    assert where(lambda node: "anyOf" in node) == where(lambda node: node.get("x-kubernetes-int-or-string"))


def test_no_object_forbids_further_fields_or_leaves_them_open() -> None:
    assert where(lambda node: node.get("additionalProperties") in (True, False)) == []
    assert (
        where(lambda node: node.get("type") == "object" and not {"properties", "additionalProperties"} & set(node))
        == []
    )


@pytest.mark.parametrize(
    ("kind", "bounds"),
    [
        ("array", {"maxItems", "x-kubernetes-list-type"}),
        ("string", {"maxLength"}),
        ("integer", {"minimum", "maximum"}),
        ("number", {"never"}),
    ],
)
def test_everything_is_bounded(kind: str, bounds: set[str]) -> None:
    assert where(lambda node: node.get("type") == kind and "enum" not in node and not bounds <= set(node)) == []


def test_maps_are_bounded() -> None:
    assert where(lambda node: "additionalProperties" in node and "maxProperties" not in node) == []


def test_the_keys_of_lists_are_required_fields() -> None:
    keyed = [node for _, node in NODES if node.get("x-kubernetes-list-type") == "map"]
    assert len(keyed) >= 8
    assert all(set(node["x-kubernetes-list-map-keys"]) <= set(node["items"]["required"]) for node in keyed)


def test_every_field_is_described_by_a_sentence() -> None:
    fields = [(path, node) for path, node in NODES if not path.endswith("[]")]
    assert [path for path, node in fields if not node.get("description", "").endswith(".")] == []


def test_only_constants_are_defaults() -> None:
    found = {path: node["default"] for path, node in NODES if "default" in node}
    assert {path: value for path, value in found.items() if path.startswith("spec")} == {
        "spec.adapterUpdates": "Restart",
        "spec.adapters[].apply": "OnRequest",
        "spec.autoscaling.minReplicas": 1,
        "spec.autoscaling.mode": "Active",
        "spec.autoscaling.objective.timePerOutputTokenMilliseconds": 100,
        "spec.autoscaling.objective.timeToFirstTokenMilliseconds": 3000,
        "spec.autoscaling.policy": "Learned",
        "spec.autoscaling.reserve": "Balanced",
        "spec.autoscaling.schedules[].timeZone": "UTC",
        "spec.autoscaling.source": "Pods",
        "spec.fit": "Enforce",
        "spec.gpu.count": 1,
        "spec.gpu.shared": False,
        "spec.gpu.verify": True,
        "spec.model.cache.claim.whenDeleted": "Delete",
        "spec.model.inspect": "Auto",
        "spec.model.trustRemoteCode": False,
        "spec.pod.hugePages.size": "2Mi",
        "spec.pod.lockMemory": False,
        "spec.pod.networkDevices[].count": 1,
        "spec.quantization": "auto",
        "spec.rollout.allowDowntime": True,
        "spec.rollout.onFailure": "Rollback",
        "spec.route.expose": "Api",
        "spec.route.inferencePool.endpointPickerRef.failureMode": "FailClose",
        "spec.route.inferencePool.endpointPickerRef.port": 9002,
        "spec.route.parentRefs[].kind": "Gateway",
        "spec.route.path": "/",
        "spec.route.timeouts.request": "0s",
        "spec.suspend": False,
    }
    assert found["status"] == {"observedGeneration": -1}


def test_rules_name_fields_that_exist() -> None:
    named = [
        (node, rule["fieldPath"]) for _, node in NODES for rule in node.get(VALIDATIONS, ()) if "fieldPath" in rule
    ]
    parts = [(node, path.replace("['", ".").replace("']", "").lstrip(".").split(".")) for node, path in named]
    assert [path for node, path in parts if path[0] not in node["properties"]] == []


def test_every_rule_is_shown_to_refuse_something() -> None:
    rules = [rule for _, node in [("", SCHEMA), *NODES] for rule in node.get(VALIDATIONS, ())]
    said = "\n".join(refusal(case.changes) for case in REFUSED)
    assert [rule["message"] for rule in rules if rule["message"].removeprefix("has a key that ") not in said] == []


def test_scales_by_the_replicas_of_spec_and_status() -> None:
    assert VERSION["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    }


def test_columns_show_fields_that_exist() -> None:
    paths = (
        {f".{path}" for path, _ in NODES}
        | {
            f'.status.conditions[?(@.type=="{kind}")].{field}'
            for kind in ("Ready", "Available")
            for field in ("status", "reason")
        }
        | {f'.status.conditions[?(@.reason=="{Reason.DOWNLOADING}")].message'}
    )
    assert [path for _, path, _, _ in COLUMNS if path not in paths] == []


def test_few_columns_are_shown_without_asking() -> None:
    shown = VERSION["additionalPrinterColumns"]
    assert len([column for column in shown if not column.get("priority")]) <= 7


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_every_example_is_valid(file: Path) -> None:
    resources = [body for body in yaml.safe_load_all(file.read_text()) if body["kind"] == "LLMService"]
    assert [LLMService.parse(body).metadata.name for body in resources] == [
        body["metadata"]["name"] for body in resources
    ]
    assert resources
