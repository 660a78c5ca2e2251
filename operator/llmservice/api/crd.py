"""The types as one CustomResourceDefinition with a structural schema."""

from collections.abc import Iterable

import yaml

from llmservice.api.structural import Schema, structural
from llmservice.api.v1alpha1.base import VALIDATIONS
from llmservice.api.v1alpha1.resource import GROUP, KIND, PLURAL, VERSION, Metadata
from llmservice.api.v1alpha1.size import size_rule
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.api.v1alpha1.status import LLMServiceStatus

COLUMNS = (
    ("Ready", '.status.conditions[?(@.type=="Ready")].status', "Whether it is as declared.", 0),
    ("Reason", '.status.conditions[?(@.type=="Ready")].reason', "Why it is ready, or is not.", 0),
    ("Replicas", ".status.replicaSummary", "Replicas that serve / are asked for.", 0),
    ("Engine", ".spec.engine", "Engine.", 0),
    ("Model", ".spec.model.uri", "Where the weights are.", 0),
    # Of several conditions with this reason, which have the same message, the API server prints the first.
    ("Progress", '.status.conditions[?(@.reason=="Downloading")].message', "How far the model is downloaded.", 0),
    ("GPU", ".spec.gpu.type", "Accelerator type.", 1),
    ("URL", ".status.url", "Base URL of the OpenAI API inside the cluster.", 1),
)
"""Printer columns: name, path, description, priority (1: only with `-o wide`)."""

_HEADER = "# Made by `llmservice crd` from the types in operator/llmservice/api: edit those, then `make crds`.\n"


def crd_yaml(engines: Iterable[str]) -> str:
    """The manifest as YAML, with a line that says where it comes from."""
    return _HEADER + yaml.safe_dump(crd_manifest(engines), sort_keys=False, width=120, allow_unicode=True)


def crd_manifest(engines: Iterable[str]) -> Schema:
    """The CustomResourceDefinition; `engines` are the values `spec.engine` may have, in the order given."""
    names = {"plural": PLURAL, "singular": "llmservice", "kind": KIND, "listKind": "LLMServiceList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {**names, "shortNames": ["llm"], "categories": ["serving"]},
            "scope": "Namespaced",
            "conversion": {"strategy": "None"},
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": _SUBRESOURCES,
                    "additionalPrinterColumns": [*map(_column, COLUMNS), _AGE],
                    "schema": {"openAPIV3Schema": _root(tuple(engines))},
                }
            ],
        },
    }


_SUBRESOURCES = {
    "status": {},
    "scale": {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    },
}
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def _column(column: tuple[str, str, str, int]) -> Schema:
    name, path, description, priority = column
    written = {"name": name, "type": "string", "jsonPath": path, "description": description}
    return {**written, "priority": priority} if priority else written


def _root(engines: tuple[str, ...]) -> Schema:
    spec = structural(LLMServiceSpec.model_json_schema())
    spec["properties"]["engine"]["enum"] = list(engines)
    spec[VALIDATIONS].append(size_rule().as_validation())
    status = structural(LLMServiceStatus.model_json_schema())
    # Without it a new object has no status, which kstatus takes for "finished".
    status["default"] = {"observedGeneration": -1}
    return {
        "type": "object",
        "description": "An LLM, served: the operator makes a Deployment and a Service of it.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
            "spec": spec,
            "status": status,
        },
        VALIDATIONS: [rule.within("metadata").as_validation() for rule in Metadata.rules],
    }
