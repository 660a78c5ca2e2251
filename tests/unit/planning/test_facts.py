"""Facts: chosen once per generation, kept as text, and narrowed to what the resource can meet."""

import dataclasses
from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.catalogue import Catalogue, EngineVersions
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.llamacpp.engine import ENGINE as LLAMACPP
from llmservice.errors import InvalidSpec
from llmservice.planning.facts import RegistrySettings, choose_facts, facts_from_text, facts_to_text
from llmservice.planning.plan import plan_service
from llmservice.rendering.manifests import render
from tests.builders import an_llmservice
from tests.unit.planning.planned import HUB, L4, facts_of, planned

REGISTRY = RegistrySettings(
    mirrors={"ghcr.io": "mirror.example/ghcr"},
    pull_secrets=("pull",),
    hf_endpoint="https://hub.example",
    proxies={"HTTPS_PROXY": "http://proxy.example:3128"},
    tolerations=({"key": "pool", "operator": "Exists"},),
)


def edited_catalogue() -> Catalogue:
    """The catalogue after an administrator's edit: other images and defaults, no accelerators at all."""
    catalogue = load_catalogue()
    row = catalogue.engine_version("llamacpp", None)
    newer = dataclasses.replace(row, version="b99999", images={"cpu": "new:1", "cuda": "new:2"}, max_model_len=1)
    rows = EngineVersions(default="b99999", versions={"b99999": newer})
    return dataclasses.replace(catalogue, engines={"llamacpp": rows}, accelerators={})


@pytest.mark.parametrize("changes", [{}, HUB | L4, {"spec__gpu": {"resourceName": "acme.example/npu"}}])
def test_facts_read_back_as_they_were(changes: dict[str, Any]) -> None:
    facts = facts_of(registry=REGISTRY, platform="gke", **changes)
    assert facts_from_text(facts_to_text(facts)) == facts


def test_a_catalogue_edit_changes_nothing_within_a_generation() -> None:
    service = LLMService.parse(an_llmservice(**HUB, **L4))
    before = planned(**HUB, **L4)
    kept = choose_facts(service, edited_catalogue(), REGISTRY, "gke", kept=before.facts)
    assert render(plan_service(service, kept), 1) == render(before, 1)


def test_the_next_generation_takes_the_facts_of_its_day() -> None:
    service = LLMService.parse(an_llmservice())
    facts = choose_facts(service, edited_catalogue(), REGISTRY, "gke", kept=None)
    assert (facts.version.version, facts.registry, facts.platform) == ("b99999", REGISTRY, "gke")


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "{}", '{"version":{"engine":"llamacpp","new":1}}'])
def test_a_text_that_cannot_be_read_is_no_obstacle(text: str) -> None:
    service = LLMService.parse(an_llmservice())
    facts = choose_facts(service, load_catalogue(), RegistrySettings(), "", kept=text)
    assert facts.version.version == "b11312"


def test_facts_of_another_engine_are_not_taken() -> None:
    text = facts_to_text(facts_of()).replace('"engine":"llamacpp"', '"engine":"other"')
    service = LLMService.parse(an_llmservice())
    assert choose_facts(service, load_catalogue(), RegistrySettings(), "", kept=text).version.engine == "llamacpp"


def test_only_what_the_resource_can_meet_is_kept() -> None:
    facts = facts_of()
    assert facts.version.flags <= LLAMACPP.flags
    assert facts.version.removed == {}


def test_arguments_that_were_accepted_are_not_checked_again_within_a_generation() -> None:
    service = LLMService.parse(an_llmservice(spec__engineOptions={"args": ["--mlock"], "version": "b10454"}))
    kept = facts_to_text(choose_facts(service, load_catalogue(), REGISTRY, "", kept=None))
    newer = LLMService.parse(an_llmservice(spec__engineOptions={"args": ["--mlock"], "version": "b11312"}))
    with pytest.raises(InvalidSpec, match="--mlock"):
        choose_facts(newer, load_catalogue(), REGISTRY, "", kept=None)
    facts = choose_facts(newer, load_catalogue(), REGISTRY, "", kept=kept)
    assert plan_service(newer, facts).container.args[-1] == "--mlock"


def test_what_was_found_when_they_were_chosen_is_noted_in_the_plan() -> None:
    options = {"args": ["--no-such"], "version": "b11312", "image": "registry.example/own:1"}
    plan = planned(spec__engineOptions=options)
    assert [note for note in plan.notes if note.startswith("spec.engineOptions.args[0]: ")] != []
    assert facts_of(spec__engineOptions=options).notes == plan.notes[:1]


def test_kept_facts_fit_into_the_status() -> None:
    assert len(facts_to_text(facts_of(registry=REGISTRY, **HUB, **L4))) < 4096


def test_a_cpu_has_no_accelerator() -> None:
    assert facts_of().accelerator is None


def test_an_unknown_type_with_a_resource_is_known_by_the_resource() -> None:
    accelerator = facts_of(spec__gpu={"type": "B999", "resourceName": "nvidia.com/gpu"}).accelerator
    assert accelerator is not None
    assert (accelerator.name, accelerator.image_variant, accelerator.node_terms) == ("", "cuda", ())


def test_a_known_type_with_a_resource_keeps_its_nodes() -> None:
    accelerator = facts_of(spec__gpu={"type": "L4", "resourceName": "nvidia.com/gpu.shared"}).accelerator
    assert accelerator is not None
    assert (accelerator.name, accelerator.resource_name) == ("L4", "nvidia.com/gpu.shared")
    assert accelerator.node_terms


@pytest.mark.parametrize(
    ("gpu", "reason"),
    [
        ({"type": "B999"}, "UnknownAccelerator"),
        ({"type": "A100"}, "AmbiguousAccelerator"),
        ({"type": "A100", "resourceName": "nvidia.com/gpu"}, "AmbiguousAccelerator"),
    ],
)
def test_a_type_that_says_too_little_is_refused(gpu: dict[str, str], reason: str) -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.gpu\.type") as caught:
        facts_of(spec__gpu=gpu)
    assert caught.value.reason == reason
