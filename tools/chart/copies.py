"""Files of the chart that say what another file says already."""

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "manifests"
MADE = "# Copied by `make charts` from {}: edit it there.\n"
RIGHTS = {
    "operator": "base/rights.yaml",
    "podLogs": "base/pod-logs.yaml",
    "inspection": "base/inspection.yaml",
    "download": "base/download.yaml",
    "activation": "base/activation.yaml",
    "activators": "base/activators.yaml",
    "activator": "activator/rights.yaml",
    "stallRestarts": "base/stall-restarts.yaml",
    "severalNodes": "base/several-nodes.yaml",
    "routes": "base/routes.yaml",
    "nodeInsight": "overlays/cluster/node-insight.yaml",
    "nodeShutdowns": "overlays/cluster/node-shutdowns.yaml",
    "reviews": "overlays/cluster/reviews.yaml",
    "leaderElection": "base/leader-election.yaml",
    "catalogue": "base/catalogue.yaml",
}
"""What the chart calls the rules of a role, and the file with the role."""


def crd() -> str:
    """The CRD, byte for byte."""
    return (ROOT / "crds" / "llmservices.llmservice.dev.yaml").read_text("utf-8")


def rights() -> str:
    """The rules of every role, so that a right is given in one place."""
    rules = {name: _one(file, "rules") for name, file in RIGHTS.items()}
    return MADE.format("the roles in manifests/") + yaml.safe_dump(rules, sort_keys=False)


def user_roles() -> str:
    """What people may do, byte for byte."""
    return (MANIFESTS / "base" / "user-roles.yaml").read_text("utf-8")


def alerts() -> str:
    """The alerts as a rule file of Prometheus."""
    spec = _one("components/monitoring/prometheus-rule.yaml", "spec")
    return MADE.format("manifests/components/monitoring") + yaml.safe_dump(spec, sort_keys=False, width=1000)


def operator_policy() -> str:
    """What the operator may write, as the spec of an admission policy."""
    return _policy("base/operator-policy.yaml")


def user_policy() -> str:
    """What people may ask for, as the spec of an admission policy."""
    return _policy("components/user-policy/user-policy.yaml")


def _policy(file: str) -> str:
    (spec,) = (body["spec"] for body in yaml.safe_load_all((MANIFESTS / file).read_text("utf-8")) if _is_policy(body))
    return MADE.format(f"manifests/{file}") + yaml.safe_dump(spec, sort_keys=False, width=1000)


def _is_policy(body: Any) -> bool:
    return bool(body["kind"] == "ValidatingAdmissionPolicy")


def _one(file: str, field: str) -> Any:
    """The field of the one object in a file that has it."""
    bodies = yaml.safe_load_all((MANIFESTS / file).read_text("utf-8"))
    (found,) = (body[field] for body in bodies if field in body)
    return found
