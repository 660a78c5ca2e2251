"""What planning and rendering one resource costs: the time one core spends per resource and pass."""

import statistics
import timeit
from collections.abc import Callable

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.planning.facts import RegistrySettings, choose_facts, facts_from_text
from llmservice.planning.plan import plan_service
from llmservice.rendering.manifests import render

ROUNDS, PER_ROUND = 15, 400
RESOURCES: dict[str, dict[str, object]] = {
    "CPU, from a claim": {"model": {"uri": "pvc://models/chat.gguf"}, "gpu": {"count": 0}},
    "L4, from the hub": {"model": {"uri": "hf://acme/chat-7B-GGUF"}, "gpu": {"type": "L4"}},
}


def microseconds(work: Callable[[], object]) -> float:
    """The median time of one call."""
    return statistics.median(timeit.repeat(work, number=PER_ROUND, repeat=ROUNDS)) / PER_ROUND * 1e6


def measure(title: str, spec: dict[str, object]) -> None:
    """Print one line for a resource."""
    raw = {"metadata": {"name": "chat", "uid": "u-1"}, "spec": {"engine": "llamacpp", **spec}}
    service, catalogue, settings = LLMService.parse(raw), load_catalogue(), RegistrySettings()
    facts = choose_facts(service, catalogue, settings, "", kept=None)
    plan = plan_service(service, facts)
    parts = {
        "parse": microseconds(lambda: LLMService.parse(raw)),
        "kept facts": microseconds(lambda: facts_from_text(plan.facts)),
        "plan": microseconds(lambda: plan_service(service, facts)),
        "render": microseconds(lambda: render(plan, 1)),
        "plan and render": microseconds(lambda: render(plan_service(service, facts), 1)),
    }
    print(f"{title:>18}: " + ", ".join(f"{name} {time:.0f} µs" for name, time in parts.items()))


if __name__ == "__main__":
    for title, spec in RESOURCES.items():
        measure(title, spec)
