"""What is installed: restricted, and with no right that a person would have to argue for."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmservice import __version__
from llmservice.settings import settings_from

ROOT = Path(__file__).parents[2]
OVERLAYS = ("cluster", "namespaced")
FOLDERS = ("base", "activator")
"""Where the Deployments of operator and activator are."""
ROLES = (
    *("rights", "pod-logs", "inspection", "download", "activation", "activators", "stall-restarts"),
    *("several-nodes", "routes", "leader-election"),
)


def objects(file: str) -> list[dict[str, Any]]:
    return [body for body in yaml.safe_load_all((ROOT / "manifests" / file).read_text()) if body]


def rules() -> list[dict[str, list[str]]]:
    roles = [body for name in ROLES for body in objects(f"base/{name}.yaml") if "rules" in body]
    return [rule for role in roles for rule in role["rules"]]


def container(folder: str = "base") -> dict[str, Any]:
    found: dict[str, Any] = objects(f"{folder}/deployment.yaml")[0]["spec"]["template"]["spec"]["containers"][0]
    return found


def test_no_right_is_a_wildcard_or_reaches_beyond_our_kinds() -> None:
    words = {word for rule in rules() for part in rule.values() for word in part}
    assert "*" not in words
    assert not words & {"secrets", "configmaps", "nodes", "namespaces", "pods/exec", "customresourcedefinitions"}
    assert not words & {"escalate", "bind", "impersonate", "deletecollection"}


def test_of_an_llmservice_only_the_status_can_be_written() -> None:
    writes = {
        resource
        for rule in rules()
        if rule["apiGroups"] == ["llmservice.dev"] and set(rule["verbs"]) - {"get", "list", "watch"}
        for resource in rule["resources"]
    }
    assert writes == {"llmservices/status"}


def test_logs_of_pods_are_a_role_of_their_own() -> None:
    assert [rule["resources"] for rule in objects("base/pod-logs.yaml")[0]["rules"]] == [["pods/log"]]
    assert "pods/log" not in (ROOT / "manifests/base/rights.yaml").read_text()


def test_evictions_are_a_role_of_their_own() -> None:
    assert objects("base/stall-restarts.yaml")[0]["rules"] == [
        {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]}
    ]


def test_groups_are_a_role_of_their_own_without_deletions_and_scales() -> None:
    assert objects("base/several-nodes.yaml")[0]["rules"] == [
        {
            "apiGroups": ["leaderworkerset.x-k8s.io"],
            "resources": ["leaderworkersets"],
            "verbs": ["get", "list", "watch", "create", "patch"],
        }
    ]


def test_deletions_of_pods_are_a_role_of_their_own_where_the_operator_may_list_nodes() -> None:
    assert not any("delete" in rule["verbs"] and "pods" in rule["resources"] for rule in rules())
    assert objects("overlays/cluster/node-shutdowns.yaml")[0]["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}
    ]
    overlay = objects("overlays/namespaced/kustomization.yaml")[0]["resources"]
    assert not any("node-shutdowns" in file for file in overlay)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_each_overlay_binds_every_role(overlay: str) -> None:
    bindings = objects(f"overlays/{overlay}/bindings.yaml")
    kind = "ClusterRoleBinding" if overlay == "cluster" else "RoleBinding"
    assert [(body["kind"], body["roleRef"]["name"]) for body in bindings] == [
        (kind, "llmservice-operator"),
        (kind, "llmservice-operator-pod-logs"),
        (kind, "llmservice-operator-inspection"),
        (kind, "llmservice-operator-download"),
        (kind, "llmservice-operator-several-nodes"),
        (kind, "llmservice-operator-stall-restarts"),
        (kind, "llmservice-operator-activation"),
        (kind, "llmservice-activator"),
        (kind, "llmservice-operator-routes"),
    ]
    assert {body["roleRef"]["name"]: body["subjects"][0]["name"] for body in bindings}["llmservice-activator"] == (
        "llmservice-activator"
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_operator_and_activator_run_restricted_on_a_read_only_root(folder: str) -> None:
    pod = objects(f"{folder}/deployment.yaml")[0]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert container(folder)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_it_may_use_is_bounded_but_for_its_cpu(folder: str) -> None:
    """A leader that is throttled misses its renewals; an activator keeps requests waiting."""
    resources = container(folder)["resources"]
    assert set(resources["requests"]) == {"cpu", "memory", "ephemeral-storage"}
    assert set(resources["limits"]) == {"memory", "ephemeral-storage"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_image_and_user_are_those_of_the_dockerfile_and_the_version(folder: str) -> None:
    user = re.search(r"^USER (\d+):(\d+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    context = objects(f"{folder}/deployment.yaml")[0]["spec"]["template"]["spec"]["securityContext"]
    assert user
    assert [str(context["runAsUser"]), str(context["runAsGroup"])] == [*user.groups()]
    assert container(folder)["image"].endswith(f":{__version__}")


def test_the_operator_understands_its_environment() -> None:
    environment = {item["name"]: item.get("value", "some-namespace") for item in container()["env"]}
    settings = settings_from(environment)
    assert settings.log_format == "json"
    ports = {port["name"]: port["containerPort"] for port in container()["ports"]}
    assert (settings.metrics_port, settings.probe_port) == (ports["metrics"], ports["probes"])
    assert settings.lease_namespace == "some-namespace"
    assert (settings.inspection_image, settings.download_image) == (container()["image"],) * 2


def test_jobs_that_look_at_models_are_a_right_of_their_own_and_never_changed() -> None:
    (rule,) = objects("base/inspection.yaml")[0]["rules"]
    assert (rule["resources"], {*rule["verbs"]}) == (["jobs"], {"get", "create", "delete"})
    assert "jobs" not in (ROOT / "manifests/base/rights.yaml").read_text()


def test_downloads_are_a_right_of_their_own_that_changes_nothing_and_takes_no_claim_away() -> None:
    rules = objects("base/download.yaml")[0]["rules"]
    rights = {resource: {*rule["verbs"]} for rule in rules for resource in rule["resources"]}
    assert rights == {"jobs": {"get", "create", "delete"}, "persistentvolumeclaims": {"get", "create"}}
    assert "persistentvolumeclaims" not in (ROOT / "manifests/base/rights.yaml").read_text()


def test_endpoint_slices_are_a_right_of_their_own() -> None:
    (rule,) = objects("base/activation.yaml")[0]["rules"]
    assert (rule["resources"], {*rule["verbs"]} - {"get", "list", "watch"}) == (
        ["endpointslices"],
        {"create", "patch", "delete"},
    )
    assert "endpointslices" not in (ROOT / "manifests/base/rights.yaml").read_text()


def test_an_activator_reads_endpoint_slices_and_may_nothing_else() -> None:
    (rule,) = objects("activator/rights.yaml")[0]["rules"]
    assert (rule["resources"], {*rule["verbs"]} - {"get", "list", "watch"}) == (["endpointslices"], set())


@pytest.mark.parametrize("dockerfile", [ROOT / "Dockerfile", *sorted(ROOT.glob("images/*/Dockerfile"))], ids=str)
def test_a_dockerfile_is_linted(dockerfile: Path) -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, dockerfile], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout


def test_both_stages_have_the_same_base_by_digest() -> None:
    """The version is there for people."""
    names = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert len(names) == 2
    assert len(set(names)) == 1
    assert re.fullmatch(r"docker\.io/library/python:3\.\d+-slim-\w+@sha256:[0-9a-f]{64}", names[0])


def test_the_image_says_its_version() -> None:
    assert f'org.opencontainers.image.version="{__version__}"' in (ROOT / "Dockerfile").read_text()
