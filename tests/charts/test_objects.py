"""What each value does."""

from typing import Any

import pytest
import yaml

from llmservice import __version__
from llmservice.catalog.overlay import overlaid
from llmservice.settings import VARIABLES, Settings, settings_from
from tests.charts.cases import COMBINATIONS, DIGEST, FEATURES, SCOPES, merged
from tests.charts.rendering import (
    CHART,
    MONITORING_KINDS,
    ROOT,
    SYSTEM,
    chart,
    deployment,
    of_kind,
    one,
    operator_container,
    overlay,
    policy_around,
)
from tests.unit.signals.fake_engine import recorded

Body = dict[str, Any]
CRD = "llmservices.llmservice.dev"
USER_ROLES = ("llmservice-viewer", "llmservice-editor", "llmservice-admin", "llmservice-metrics-reader")
CRD_FILE = ROOT / "crds" / "llmservices.llmservice.dev.yaml"


def settings(values: Body) -> Settings:
    """What the operator makes of its environment."""
    return settings_from(environment(values))


def environment(values: Body) -> dict[str, str]:
    """What stands in the operator's environment; a field of the pod is the release's namespace."""
    return {item["name"]: item.get("value", SYSTEM) for item in operator_container(chart(values))["env"]}


def test_version_and_image_are_those_of_the_operator() -> None:
    about = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert about["version"] == about["appVersion"] == __version__
    assert operator_container(chart())["image"] == f"ghcr.io/llmservice/operator:{__version__}"


def test_a_digest_decides_over_the_tag() -> None:
    image = operator_container(chart(merged(FEATURES["digest"], {"image": {"tag": "1"}})))["image"]
    assert image == f"registry.example:5000/operator@{DIGEST}"


@pytest.mark.parametrize("name", COMBINATIONS)
def test_the_operator_knows_every_variable_it_is_given(name: str) -> None:
    assert environment(COMBINATIONS[name]).keys() <= {variable.name for variable in VARIABLES}


@pytest.mark.parametrize("name", ["default", "digest", "given-account", "placed", "another-name"])
def test_helm_test_runs_the_same_image_under_the_same_account_and_gives_it_no_right(name: str) -> None:
    bodies = chart(FEATURES[name], tests=True)
    (pod,) = (body["spec"] for body in bodies if body["kind"] == "Pod")
    operator = deployment(bodies, "operator")["spec"]["template"]["spec"]
    placed = ("serviceAccountName", "securityContext", "nodeSelector", "tolerations", "imagePullSecrets")
    assert {key: pod.get(key) for key in placed} == {key: operator.get(key) for key in placed}
    assert pod["containers"][0]["image"] == operator["containers"][0]["image"]
    assert [body for body in bodies if body["kind"] != "Pod"] == chart(FEATURES[name])


def test_settings_reach_the_operator() -> None:
    found = settings(
        merged(*(FEATURES[name] for name in ("air-gap", "settings", "prometheus", "dashboard", "few-downloads")))
    )
    assert found == Settings(
        activator=("on",),
        workers=32,
        log_level="debug",
        probe_port=8081,
        metrics_port=8443,
        lease_namespace=SYSTEM,
        platform="gke",
        image_mirrors={"docker.io": "registry.example/hub", "ghcr.io": "registry.example/ghcr"},
        pull_secrets=("registry", "other"),
        hf_endpoint="https://hub.example",
        engine_https_proxy="http://proxy:3128",
        engine_http_proxy="http://proxy:3128",
        engine_no_proxy=".svc,10.0.0.0/8",
        inspection_image=f"ghcr.io/llmservice/operator:{__version__}",
        download_image=f"ghcr.io/llmservice/operator:{__version__}",
        downloads_at_once=2,
        download_bandwidth=100_000_000,
        tolerations=({"key": "team", "operator": "Exists"},),
        monitoring_namespace="monitoring",
        prometheus_url="http://prometheus.monitoring:9090",
        prometheus_token_file="/var/run/secrets/prometheus/token",  # noqa: S106  (a path)
    )


def test_models_are_inspected_with_the_operators_own_image_or_not_at_all() -> None:
    for name in ("default", "digest", "tag"):
        assert settings(FEATURES[name]).inspection_image == operator_container(chart(FEATURES[name]))["image"]
    without, patient = settings(FEATURES["no-inspection"]), settings(FEATURES["patient-inspection"])
    assert (without.inspection, without.inspection_image, patient.inspection_seconds) == ("never", "", 300)
    rights = [body for body in chart(FEATURES["no-inspection"]) if body["metadata"]["name"].endswith("-inspection")]
    assert rights == []


def test_models_are_downloaded_with_the_operators_own_image_or_not_at_all() -> None:
    for name in ("default", "digest", "tag"):
        assert settings(FEATURES[name]).download_image == operator_container(chart(FEATURES[name]))["image"]
    assert settings(FEATURES["no-downloads"]).download_image == ""
    rights = [body for body in chart(FEATURES["no-downloads"]) if body["metadata"]["name"].endswith("-download")]
    assert rights == []


@pytest.mark.parametrize(
    ("scope", "namespaces"), [("cluster", ()), ("namespaced", (SYSTEM,)), ("two-namespaces", ("team-a", "team-b"))]
)
def test_the_operator_serves_the_namespaces_that_it_has_rights_in(scope: str, namespaces: tuple[str, ...]) -> None:
    bound = [
        body for body in chart(SCOPES[scope]) if body["metadata"]["name"] == "llmservice-operator" and "roleRef" in body
    ]
    assert settings(SCOPES[scope]).namespaces == namespaces
    assert sorted(body["metadata"].get("namespace", "") for body in bound) == list(namespaces or ("",))


@pytest.mark.parametrize("scope", ["namespaced", "two-namespaces"])
def test_without_cluster_scope_nothing_is_cluster_wide_but_the_crd_and_the_policy(scope: str) -> None:
    bodies = [body for body in chart(SCOPES[scope]) if "namespace" not in body["metadata"]]
    assert {body["metadata"]["name"] for body in bodies} == {CRD, *USER_ROLES, f"llmservice-operator.{SYSTEM}"}
    without = chart(merged(SCOPES[scope], FEATURES["no-crd"], FEATURES["no-operator-policy"]))
    assert [body for body in without if "namespace" not in body["metadata"]] == []


def test_without_optional_rights_their_roles_are_gone() -> None:
    names = {body["metadata"]["name"] for body in of_kind(chart(FEATURES["least-roles"]), "ClusterRole")}
    assert names == {"llmservice-operator"}


def test_whatever_the_instance_is_called_its_roles_keep_their_names() -> None:
    """So that a second release over the same namespaces is refused by Helm."""

    def roles(values: Body) -> set[str]:
        return {body["metadata"]["name"] for body in chart(values) if "roleRef" in body}

    assert roles({"instanceName": "second"}) == roles({})


def test_whatever_the_instance_is_called_it_elects_by_the_lease_it_has_the_right_to() -> None:
    rules = next(
        body["rules"] for body in chart() if body["metadata"]["name"].endswith("leader-election") and "rules" in body
    )
    assert {name for rule in rules for name in rule.get("resourceNames", ())} == {"llmservice-operator"}


@pytest.mark.parametrize(("keep", "annotations"), [(True, {"helm.sh/resource-policy": "keep"}), (False, None)])
def test_the_crd_is_the_file_of_the_repository(keep: bool, annotations: Body | None) -> None:
    body = one(chart({"crds": {"keep": keep}}), "CustomResourceDefinition")
    assert body["metadata"].pop("labels")
    assert body["metadata"].pop("annotations", None) == annotations
    assert body == yaml.safe_load(CRD_FILE.read_text("utf-8"))


def test_the_roles_of_people_stay_as_long_as_the_crd() -> None:
    kept = {
        body["metadata"]["name"]
        for body in chart()
        if "helm.sh/resource-policy" in body["metadata"].get("annotations", {})
    }
    assert kept == {CRD, *USER_ROLES}


def test_without_the_crd_it_is_not_rendered() -> None:
    assert of_kind(chart(FEATURES["no-crd"]), "CustomResourceDefinition") == []


@pytest.mark.parametrize(("replicas", "budgets"), [(1, 0), (2, 1), (3, 1)])
@pytest.mark.parametrize("component", ["operator", "activator"])
def test_only_more_than_one_replica_has_a_disruption_budget(component: str, replicas: int, budgets: int) -> None:
    values = {"replicas": replicas} if component == "operator" else {"activator": {"replicas": replicas}}
    around = [body["spec"]["selector"]["matchLabels"] for body in of_kind(chart(values), "PodDisruptionBudget")]
    assert [labels["app.kubernetes.io/component"] for labels in around].count(component) == budgets


def test_rows_of_a_catalogue_are_ones_that_the_operator_takes() -> None:
    rows = {"name": "L5", "vendor": "nvidia", "capability": "12.0", "memory_gib": 31.3}
    data = one(chart({"catalogue": {"accelerators": {"accelerators": [rows]}}}), "ConfigMap")["data"]
    assert "L5" in overlaid(data).accelerators


def test_a_token_is_mounted_where_the_operator_looks_for_it() -> None:
    values = FEATURES["prometheus"]
    pod = deployment(chart(values), "operator")["spec"]["template"]["spec"]
    (mount,) = operator_container(chart(values))["volumeMounts"]
    (volume,) = pod["volumes"]
    assert volume["secret"] == {"secretName": "prometheus", "items": [{"key": "bearer", "path": "token"}]}
    assert settings(values).prometheus_token_file == f"{mount['mountPath']}/token"


def test_only_kinds_that_the_cluster_has_are_rendered() -> None:
    values = merged(FEATURES["pod-monitors"], FEATURES["service-monitor"])
    assert {body["kind"] for body in chart(values, kinds=["PodMonitor"])} & {*MONITORING_KINDS} == {"PodMonitor"}
    assert chart(values, kinds=[]) == chart()


_LIMITS: Body = {
    "bodySizeLimit": "1MiB",
    "sampleLimit": 10000,
    "labelLimit": 64,
    "labelNameLengthLimit": 128,
    "labelValueLengthLimit": 2048,
}


def engine_monitor(*values: Body) -> Body:
    (found,) = (
        body
        for body in of_kind(chart(merged(FEATURES["pod-monitors"], *values)), "PodMonitor")
        if body["metadata"]["name"].endswith("-engines")
    )
    return found


def test_what_an_engine_may_make_prometheus_store_is_bounded() -> None:
    assert engine_monitor()["spec"].items() >= _LIMITS.items()
    (overlaid,) = (
        body for body in of_kind(overlay("monitoring"), "PodMonitor") if body["metadata"]["name"].endswith("-engines")
    )
    assert overlaid["spec"].items() >= _LIMITS.items()


def test_each_bound_on_an_engines_metrics_can_be_raised() -> None:
    raised = {"bodySize": "4MiB", "samples": 1, "labels": 2, "labelNameLength": 3, "labelValueLength": 4}
    spec = engine_monitor({"monitoring": {"enginePodMonitor": {"limits": raised}}})["spec"]
    assert [spec[name] for name in _LIMITS] == [*raised.values()]


def test_a_full_page_of_16_data_parallel_engines_is_within_the_bounds() -> None:
    """By what vLLM answers for one."""
    lines = [line for line in recorded("vllm").decode().split("\n") if line and not line.startswith("#")]
    of_engine = [line for line in lines if 'engine="0"' in line]
    assert len(lines) + 15 * len(of_engine) <= _LIMITS["sampleLimit"]
    assert len(recorded("vllm")) + 15 * sum(len(line) + 1 for line in of_engine) <= 2**20
    assert max(line.count('="') for line in lines) + 10 <= _LIMITS["labelLimit"]


def test_a_service_monitor_finds_the_metrics_service() -> None:
    bodies = chart(FEATURES["service-monitor"])
    wanted = one(bodies, "ServiceMonitor")["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= one(bodies, "Service")["metadata"]["labels"].items()


def endpoint(values: Body) -> Body:
    """What a ServiceMonitor makes Prometheus ask for."""
    (found,) = one(chart(values), "ServiceMonitor")["spec"]["endpoints"]
    scraped: Body = found
    return scraped


def test_prometheus_says_who_it_is_and_by_https_only() -> None:
    asked = endpoint(FEATURES["service-monitor"])
    assert (asked["scheme"], asked["tlsConfig"]) == ("https", {"insecureSkipVerify": True})
    assert asked["bearerTokenFile"] == "/var/run/secrets/kubernetes.io/serviceaccount/token"


def test_a_given_certificate_is_mounted_for_the_operator_and_checked_by_prometheus() -> None:
    values = FEATURES["certificate"]
    found, asked = settings(values), endpoint(values)
    (mount,) = operator_container(chart(values))["volumeMounts"]
    assert (found.tls_cert_file, found.tls_key_file) == (
        f"{mount['mountPath']}/tls.crt",
        f"{mount['mountPath']}/tls.key",
    )
    service = one(chart(values), "Service")["metadata"]["name"]
    assert asked["tlsConfig"] == {
        "serverName": f"{service}.{SYSTEM}.svc",
        "ca": {"secret": {"name": "llmservice-tls", "key": "ca.crt"}},
    }
    assert asked["authorization"]["credentials"] == {"name": "prometheus", "key": "bearer"}


def test_explain_asks_the_port_that_is_declared_first() -> None:
    """`llmservice explain` leaves the choice to the API server, which takes the first."""
    first, second = operator_container(chart())["ports"]
    assert (first["name"], second["name"]) == ("metrics", "probes")
    assert {first["containerPort"], second["containerPort"]} == {settings({}).metrics_port, settings({}).probe_port}
    probes = [operator_container(chart())[name]["httpGet"]["port"] for name in ("livenessProbe", "readinessProbe")]
    assert probes == ["probes", "probes"]


def policy(name: str) -> Body:
    """The NetworkPolicy's spec."""
    return policy_around("operator", chart(FEATURES[name]))


def test_a_policy_stands_around_the_operator_unless_it_is_left_out() -> None:
    assert policy("default")["policyTypes"] == ["Ingress", "Egress"]
    assert of_kind(chart(FEATURES["no-policy"]), "NetworkPolicy") == []


def test_only_the_port_where_everybody_says_who_they_are_is_open() -> None:
    """Nobody but the node reaches the probes: the policy does not name their port."""
    assert policy("default")["ingress"] == [{"ports": [{"protocol": "TCP", "port": "metrics"}]}]
    (rule,) = policy("narrow-policy")["ingress"]
    assert rule["from"] == FEATURES["narrow-policy"]["networkPolicy"]["metricsFrom"]


def test_the_policy_lets_prometheus_be_asked_only_when_it_is() -> None:
    asked = [rule for rule in policy("prometheus")["egress"] if rule not in policy("default")["egress"]]
    assert asked == [{"to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]}]
    assert {"to": [{"ipBlock": {"cidr": "10.2.0.0/16"}}]} in policy("prometheus-elsewhere")["egress"]


def test_the_policy_does_not_keep_the_operator_from_the_api_server_wherever_that_is() -> None:
    ports = [{"protocol": "TCP", "port": 443}, {"protocol": "TCP", "port": 6443}]
    assert {"ports": ports} in policy("default")["egress"]


def policy_of(values: Body, name: str) -> Body:
    (found,) = (
        body for body in of_kind(chart(values), "ValidatingAdmissionPolicy") if body["metadata"]["name"] == name
    )
    return found


def variable(policy: Body, name: str) -> str:
    (found,) = (str(each["expression"]) for each in policy["spec"]["variables"] if each["name"] == name)
    return found


@pytest.mark.parametrize(
    ("scope", "served"),
    [
        ("cluster", "!(request.namespace in ['kube-system', 'kube-public', 'kube-node-lease'])"),
        ("namespaced", "request.namespace == variables.home"),
        ("two-namespaces", 'request.namespace in ["team-a","team-b"]'),
    ],
)
def test_the_operators_policy_is_about_the_account_and_the_namespaces_of_the_release(scope: str, served: str) -> None:
    values = merged(SCOPES[scope], {"instanceName": "second", "serviceAccount": {"name": "given"}})
    policy = policy_of(values, f"second.{SYSTEM}")
    (condition,) = policy["spec"]["matchConditions"]
    assert condition["expression"].endswith(f"== 'system:serviceaccount:{SYSTEM}:given'")
    assert (variable(policy, "home"), variable(policy, "served")) == (f"'{SYSTEM}'", served)


def test_the_policy_for_people_says_what_the_values_allow() -> None:
    policy = policy_of(FEATURES["user-policy"], "llmservice-users")
    assert variable(policy, "ownImages") == variable(policy, "remoteCode") == "true"
    assert variable(policy, "imagePrefixes") == '["registry.example:5000","ghcr.io/acme"]'


def test_the_policy_for_people_acts_where_the_operator_serves() -> None:
    values = merged(SCOPES["two-namespaces"], FEATURES["user-policy"])
    (binding,) = (
        body["spec"]
        for body in of_kind(chart(values), "ValidatingAdmissionPolicyBinding")
        if body["metadata"]["name"] == f"llmservice-users.{SYSTEM}"
    )
    (expression,) = binding["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert expression["values"] == ["team-a", "team-b"]
