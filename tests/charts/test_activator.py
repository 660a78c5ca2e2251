"""The activator beside the operator: what it may reach, who reaches it, and that all of it goes when it is left out."""

from typing import Any

import pytest
import yaml
from click import Option

from llmservice.cli.activate import command
from llmservice.settings import VARIABLES
from tests.charts.cases import FEATURES, SCOPES, merged
from tests.charts.rendering import CHART, SYSTEM, chart, container, deployment, of_kind, policy_around

Body = dict[str, Any]
OPTIONS = [each for each in command.params if isinstance(each, Option)]
LABELS = {
    "app.kubernetes.io/component": "activator",
    "app.kubernetes.io/name": "llmservice-activator",
    "app.kubernetes.io/part-of": "llmservice",
}
"""By these the operator finds the pods."""


def activator(values: Body) -> Body:
    """Its Deployment's spec."""
    spec: Body = deployment(chart(values), "activator")["spec"]
    return spec


def environment(body: Body) -> dict[str, str]:
    """What its container is told; a field of the pod is the release's namespace."""
    return {item["name"]: item.get("value", SYSTEM) for item in container({"spec": body})["env"]}


def test_the_operator_finds_its_pods_by_their_labels() -> None:
    spec = activator({"activator": {"podLabels": {"app.kubernetes.io/name": "mine", "team": "platform"}}})
    assert spec["selector"]["matchLabels"] == LABELS
    assert spec["template"]["metadata"]["labels"] == {**LABELS, "team": "platform"}


def test_a_pod_that_is_told_to_stop_has_longer_than_a_request_may_wait() -> None:
    for values, seconds in (({}, 600), (FEATURES["activator"], 120)):
        spec = activator(values)
        assert spec["template"]["spec"]["terminationGracePeriodSeconds"] == seconds + 30
        assert environment(spec)["LLMSERVICE_ACTIVATOR_GRACE_SECONDS"] == str(seconds + 30)


def test_each_bound_in_the_values_reaches_it() -> None:
    """By the variables of its options, each within what the option takes."""
    told = environment(activator(FEATURES["activator"]))
    said = {each.name: each.type.convert(told[str(each.envvar)], each, None) for each in OPTIONS if each.envvar in told}
    assert said == {"held": 1000, "held_each": 100, "held_mib": 64, "wait_seconds": 120, "grace_seconds": 150}


@pytest.mark.parametrize("name", FEATURES)
def test_it_knows_every_variable_it_is_given(name: str) -> None:
    known = {each.envvar for each in OPTIONS} | {each.name for each in VARIABLES}
    values = FEATURES[name]
    if values.get("activator", {}).get("enabled", True):
        assert environment(activator(values)).keys() <= known


@pytest.mark.parametrize("values", [{}, FEATURES["activator"]], ids=["default", "others"])
def test_what_is_left_out_is_what_it_does_by_itself(values: Body) -> None:
    of_values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))["activator"] | values.get("activator", {})
    told = environment(activator(values))
    names = {
        "maxHeld": "held",
        "maxHeldPerService": "held_each",
        "maxHeldMiB": "held_mib",
        "maxWaitSeconds": "wait_seconds",
    }
    for value, option in names.items():
        (found,) = (each for each in OPTIONS if each.name == option)
        assert int(told.get(str(found.envvar), str(found.default))) == of_values[value]


@pytest.mark.parametrize(
    ("scope", "namespaces"),
    [("cluster", None), ("namespaced", SYSTEM), ("two-namespaces", "team-a,team-b")],
)
def test_it_listens_for_the_services_that_the_operator_serves(scope: str, namespaces: str | None) -> None:
    assert environment(activator(SCOPES[scope])).get("LLMSERVICE_NAMESPACES") == namespaces


@pytest.mark.parametrize("scope", SCOPES)
def test_it_reads_endpoint_slices_where_the_operator_serves_and_has_no_other_right(scope: str) -> None:
    bodies = chart(SCOPES[scope])
    held = [body for body in bodies if any(each["name"] == "llmservice-activator" for each in body.get("subjects", ()))]
    served = {"cluster": {None}, "namespaced": {SYSTEM}, "two-namespaces": {"team-a", "team-b"}}[scope]
    assert {body["metadata"].get("namespace") for body in held} == served
    assert {body["roleRef"]["name"] for body in held} == {"llmservice-activator"}
    rules = [body["rules"] for body in bodies if body["metadata"]["name"] == "llmservice-activator" and "rules" in body]
    assert {resource for (rule,) in rules for resource in rule["resources"]} == {"endpointslices"}
    assert {verb for (rule,) in rules for verb in rule["verbs"]} <= {"get", "list", "watch"}


def test_only_the_operator_reaches_what_it_tells_and_everybody_the_ports_of_services() -> None:
    services, control = policy_around("activator", chart())["ingress"]
    assert services == {"ports": [{"protocol": "TCP", "port": 20000, "endPort": 29999}]}
    (peer,) = control["from"]
    assert peer == {"podSelector": policy_around("operator", chart())["podSelector"]}
    assert control["ports"] == [{"protocol": "TCP", "port": "control"}]
    assert {"to": [{"podSelector": {"matchLabels": LABELS}}], "ports": control["ports"]} in policy_around(
        "operator", chart()
    )["egress"]


def test_it_reaches_the_api_server_and_engines_and_looks_up_no_names() -> None:
    """As the operator does, but for downloads, DNS and what it tells itself."""
    ours, operators = (policy_around(component, chart())["egress"] for component in ("activator", "operator"))
    assert all(rule in operators for rule in ours)
    assert {port["port"] for rule in ours for port in rule["ports"]} == {443, 6443, "http"}


def test_who_reaches_the_ports_of_services_can_be_narrowed() -> None:
    values = FEATURES["narrow-policy"]
    services, _ = policy_around("activator", chart(values))["ingress"]
    assert services["from"] == values["networkPolicy"]["servicesFrom"]
    (api, _) = policy_around("activator", chart(values))["egress"]
    assert api == {"ports": [{"protocol": "TCP", "port": 443}], "to": [{"ipBlock": {"cidr": "10.0.0.1/32"}}]}


@pytest.mark.parametrize("scope", SCOPES)
def test_left_out_nothing_of_it_is_installed(scope: str) -> None:
    bodies = chart(merged(SCOPES[scope], FEATURES["no-activator"]))
    policies = ("ValidatingAdmissionPolicy", "CustomResourceDefinition")
    assert [
        body["metadata"]["name"] for body in bodies if body["kind"] not in policies and "ctivator" in str(body)
    ] == []
    assert not any("endpointslices" in str(body.get("rules")) for body in bodies)
    (operator,) = of_kind(bodies, "Deployment")
    assert "LLMSERVICE_ACTIVATOR" not in {item["name"] for item in container(operator)["env"]}
