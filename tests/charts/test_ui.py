"""The page for a cluster's users: what it is given, and what it is not."""

from typing import Any

import pytest
from click.testing import CliRunner

from llmservice.cli.serve_ui import command
from tests.charts.cases import FEATURES, merged
from tests.charts.rendering import chart, of_kind, overlay, pod_of

Body = dict[str, Any]
ALL = FEATURES["page-with-all"]


def named(bodies: list[Body], kind: str) -> Body:
    """The object of the page."""
    (found,) = (body for body in of_kind(bodies, kind) if body["metadata"]["name"] == "llmservice-operator-ui")
    return found


def test_it_is_not_there_by_itself() -> None:
    assert not any(body["metadata"]["name"].endswith("-ui") for body in chart())


@pytest.mark.parametrize("values", [FEATURES["page"], ALL], ids=["page", "page-with-all"])
def test_it_has_no_right_no_account_and_no_token(values: Body) -> None:
    pod = pod_of(chart(values), "ui")["spec"]
    assert "serviceAccountName" not in pod
    assert pod["automountServiceAccountToken"] is False
    assert not any("projected" in volume for volume in pod["volumes"])
    rights = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceAccount")
    assert [of_kind(chart(values), kind) for kind in rights] == [of_kind(chart(), kind) for kind in rights]


@pytest.mark.parametrize("values", [FEATURES["page"], ALL], ids=["page", "page-with-all"])
def test_it_is_started_with_options_that_the_verb_knows(values: Body) -> None:
    (container,) = pod_of(chart(values), "ui")["spec"]["containers"]
    verb, *options = container["args"]
    known = CliRunner().invoke(command, ["--help"]).output
    assert verb == "serve-ui"
    assert all(option.partition("=")[0] in known for option in options)
    mounted = [mount["mountPath"] for mount in container["volumeMounts"]]
    files = [option.partition("=")[2] for option in options if "-file=" in option]
    assert {file.rpartition("/")[0] for file in files} == set(mounted)


def test_the_operators_pods_are_not_behind_its_service_nor_its_pods_among_theirs() -> None:
    bodies = chart(FEATURES["page"])
    labels = {name: pod_of(bodies, name)["metadata"]["labels"] for name in ("operator", "ui")}
    selector = named(bodies, "Service")["spec"]["selector"]
    assert selector.items() <= labels["ui"].items()
    assert not selector.items() <= labels["operator"].items()
    for kind in ("Deployment", "NetworkPolicy", "PodDisruptionBudget"):
        (theirs,) = (body for body in of_kind(bodies, kind) if body["metadata"]["name"] == "llmservice-operator")
        selected = (theirs["spec"].get("selector") or theirs["spec"]["podSelector"])["matchLabels"]
        assert not selected.items() <= labels["ui"].items(), kind


def test_it_reaches_the_api_server_alone_and_is_reached_by_those_who_may() -> None:
    spec = named(chart(merged(ALL, FEATURES["narrow-policy"])), "NetworkPolicy")["spec"]
    assert spec["egress"] == [
        {"ports": [{"protocol": "TCP", "port": 443}], "to": [{"ipBlock": {"cidr": "10.0.0.1/32"}}]}
    ]
    assert spec["ingress"] == [{"ports": [{"protocol": "TCP", "port": "https"}], "from": ALL["ui"]["from"]}]


def test_the_overlay_has_it_too() -> None:
    assert named(overlay("ui"), "Deployment")["spec"] == named(chart(FEATURES["page"]), "Deployment")["spec"]
