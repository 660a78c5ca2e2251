"""An engine that measures nothing costs one class and one row, too: the proxy before it does the rest."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import catalogue_of, shipped_table, table_in
from llmservice.catalog.rows import ACCELERATORS_FILE, ENGINES_FILE
from llmservice.engines import registry
from llmservice.engines.proxied import PROXY_METRIC_NAMES
from llmservice.planning.facts import RegistrySettings, choose_facts, facts_from_text
from llmservice.planning.plan import plan_service
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.manifests import render
from llmservice.rendering.proxy_config import proxy_config
from tests.builders import an_llmservice
from tests.contracts.silent_engine import LOADED, Silent

ROW = """
silent:
  default: "1.0"
  versions:
    "1.0":
      images: {cpu: "registry.example/silent:1.0"}
      user: 4000
      group: 4000
      max_model_len: 4096
      max_num_seqs: 8
"""
PROXY = {"image": "docker.io/library/haproxy:9.9"}


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> Catalogue:
    monkeypatch.setattr(registry, "ENGINES", {"silent": Silent()})
    rows = table_in(ROW, ENGINES_FILE)
    return catalogue_of(engines=rows, accelerators=shipped_table(ACCELERATORS_FILE), proxy=PROXY)


def planned(catalogue: Catalogue, registry: RegistrySettings | None = None, **changes: Any) -> ServicePlan:
    usual = {"spec__engine": "silent", "spec__model": {"uri": "acme/chat"}}
    service = LLMService.parse(an_llmservice(**{**usual, **changes}))
    return plan_service(service, choose_facts(service, catalogue, registry or RegistrySettings(), "", kept=None))


def template(plan: ServicePlan) -> dict[str, Any]:
    made: dict[str, Any] = render(plan, 1)[-1]["spec"]["template"]
    return made


def test_the_engine_listens_on_loopback_behind_a_sidecar(catalogue: Catalogue) -> None:
    spec = template(planned(catalogue))["spec"]
    (engine,), (proxy,) = spec["containers"], spec["initContainers"]
    assert engine["args"] == ["--listen", "127.0.0.1:8001"]
    assert (proxy["name"], proxy["restartPolicy"]) == ("proxy", "Always")
    assert engine["ports"] == [{"name": "http", "containerPort": 8000, "protocol": "TCP"}]


def test_its_probes_are_asked_of_the_engine_whatever_clients_do(catalogue: Catalogue) -> None:
    plan = planned(catalogue)
    (engine,) = template(plan)["spec"]["containers"]
    paths = {name: engine[name]["httpGet"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}
    assert {probe["port"] for probe in paths.values()} == {8002}
    assert [probe["path"] for probe in paths.values()] == ["/api/ps", "/api/ps", "/api/version"]
    assert plan.proxy is not None
    assert LOADED.partition("'")[2] in proxy_config(plan.proxy)


def test_what_it_bounds_is_what_is_asked_for(catalogue: Catalogue) -> None:
    proxy = planned(catalogue, spec__maxNumSeqs=3).proxy
    assert proxy is not None
    assert (proxy.running, proxy.measures, proxy.keys) == (3, True, None)
    assert "server engine 127.0.0.1:8001 maxconn 3" in proxy_config(proxy)


def test_it_is_scaled_by_what_the_proxy_counts(catalogue: Catalogue) -> None:
    scaling = planned(catalogue, spec__autoscaling={"maxReplicas": 3}).scaling
    assert scaling is not None
    assert scaling.metric_names == PROXY_METRIC_NAMES


def test_the_image_is_pinned_and_comes_from_the_mirror(catalogue: Catalogue) -> None:
    plan = planned(catalogue, RegistrySettings(mirrors={"docker.io": "registry.example/hub"}))
    facts = facts_from_text(plan.facts)
    assert plan.proxy is not None
    assert facts is not None
    assert (facts.proxy, plan.proxy.image) == (PROXY["image"], "registry.example/hub/library/haproxy:9.9")


def test_its_configuration_is_an_annotation_that_it_mounts(catalogue: Catalogue) -> None:
    plan = planned(catalogue)
    made = template(plan)
    assert plan.proxy is not None
    (volume,) = (each for each in made["spec"]["volumes"] if each["name"] == "proxy-config")
    (item,) = volume["downwardAPI"]["items"]
    annotation = item["fieldRef"]["fieldPath"].removeprefix("metadata.annotations['").removesuffix("']")
    assert made["metadata"]["annotations"][annotation] == proxy_config(plan.proxy)
