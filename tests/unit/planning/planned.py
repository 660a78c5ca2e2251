"""From a resource as a user writes it to its plan and manifests, with the catalogue that is shipped."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.errors import InvalidSpec
from llmservice.objects.references import Manifest
from llmservice.planning.facts import Facts, RegistrySettings, choose_facts
from llmservice.planning.plan import plan_service
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.manifests import render
from tests.builders import an_llmservice

HUB: dict[str, Any] = {"spec__model__uri": "hf://acme/chat-7B-GGUF"}
L4: dict[str, Any] = {"spec__gpu": {"type": "L4"}}


def facts_of(*, registry: RegistrySettings | None = None, platform: str = "", **changes: Any) -> Facts:
    """The facts chosen for a resource."""
    service = LLMService.parse(an_llmservice(**changes))
    return choose_facts(service, load_catalogue(), registry or RegistrySettings(), platform, kept=None)


def planned(*, registry: RegistrySettings | None = None, platform: str = "", **changes: Any) -> ServicePlan:
    """The plan of `an_llmservice(**changes)`."""
    service = LLMService.parse(an_llmservice(**changes))
    return plan_service(service, facts_of(registry=registry, platform=platform, **changes))


def refused(**changes: Any) -> InvalidSpec:
    """The error that planning the resource ends with."""
    with pytest.raises(InvalidSpec) as caught:
        planned(**changes)
    return caught.value


def rendered(kind: str, *, replicas: int | None = 1, **changes: Any) -> Manifest:
    """The one child of this kind."""
    (manifest,) = (each for each in render(planned(**changes), replicas) if each["kind"] == kind)
    return manifest


def default_of(plan: ServicePlan, field: str) -> str:
    """The value of a computed default; empty when the resource said it."""
    return next((default.value for default in plan.defaults if default.field == field), "")
