"""Another engine costs one class and one row: they stand in this file, the row as ROW."""

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.loader import catalogue_of, shipped_table, table_in
from llmservice.catalog.rows import ACCELERATORS_FILE, ENGINES_FILE
from llmservice.engines import registry
from llmservice.engines.engine import (
    Capabilities,
    HttpProbe,
    Launch,
    LogPattern,
    OwnedArguments,
    Probes,
    ServingRequest,
)
from llmservice.engines.metric_names import MetricNames
from llmservice.errors import InvalidSpec
from llmservice.objects.references import Manifest
from llmservice.planning.facts import RegistrySettings, choose_facts
from llmservice.planning.plan import plan_service
from llmservice.rendering.manifests import render
from tests.builders import an_llmservice

ROW = """
fourth:
  default: "4.0"
  versions:
    "4.0":
      images: {cuda: "registry.example/fourth:4.0"}
      user: 4000
      group: 4000
      max_model_len: 4096
      max_num_seqs: 8
      quantizations: [int4]
      metrics: {running: "fourth:running", waiting: "fourth:waiting"}
"""
ANSWERS = HttpProbe(path="/live", period_seconds=5, timeout_seconds=10, failures=30)


class Fourth:
    """An engine nobody has heard of."""

    name = "fourth"
    capabilities = Capabilities(schemes=frozenset({"hf"}), revisions=True)
    owned = OwnedArguments(flags={"--length": "use spec.maxModelLen"}, environment={})
    flags = frozenset({"--length", "--at-once"})
    log_patterns: tuple[LogPattern, ...] = ()

    def launch(self, request: ServingRequest) -> Launch:
        return Launch(
            command=("serve", request.model.repository),
            args=("--length", str(request.max_model_len), "--at-once", str(request.max_num_seqs)),
            probes=Probes(startup=ANSWERS, readiness=ANSWERS, liveness=ANSWERS),
            stop_seconds=request.drain_seconds,
        )

    def metric_names(self, version: EngineVersion) -> MetricNames:
        return MetricNames(running=(version.metrics["running"],), waiting=(version.metrics["waiting"],))


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> Catalogue:
    monkeypatch.setattr(registry, "ENGINES", {"fourth": Fourth()})
    return catalogue_of(engines=table_in(ROW, ENGINES_FILE), accelerators=shipped_table(ACCELERATORS_FILE))


def deployment(catalogue: Catalogue, **changes: object) -> Manifest:
    usual = {"spec__engine": "fourth", "spec__model": {"uri": "acme/chat"}, "spec__gpu": {"type": "L4"}}
    service = LLMService.parse(an_llmservice(**{**usual, **changes}))
    facts = choose_facts(service, catalogue, RegistrySettings(), "", kept=None)
    return render(plan_service(service, facts), 1)[-1]


def test_it_is_rendered_like_the_others(catalogue: Catalogue) -> None:
    template = deployment(catalogue)["spec"]["template"]["spec"]
    (container,) = template["containers"]
    assert container["image"] == "registry.example/fourth:4.0"
    assert (container["command"], container["args"]) == (
        ["serve", "acme/chat"],
        ["--length", "4096", "--at-once", "8"],
    )
    assert template["securityContext"]["runAsUser"] == 4000
    assert template["terminationGracePeriodSeconds"] > 300


def test_what_it_owns_and_cannot_do_is_refused(catalogue: Catalogue) -> None:
    with pytest.raises(InvalidSpec, match=r"args\[0\]: --length .* spec\.maxModelLen"):
        deployment(catalogue, spec__engineOptions={"args": ["--length=1"]})
    with pytest.raises(InvalidSpec, match=r"spec\.gpu: fourth 4\.0 .* cuda"):
        deployment(catalogue, spec__gpu={"count": 0})
