"""LLMServices → the configuration of a LiteLLM proxy: one entry for each name that clients may ask for.

Keys of that file: https://docs.litellm.ai/docs/proxy/configs (LiteLLM 1.106).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llmservice.models.model_facts import Task
from llmservice.objects.references import Manifest

Json = dict[str, Any]

_NO_KEY = "none"
"""A service that asks for none takes any; the client library behind the proxy insists on one."""

_SPOKEN = {
    Task.GENERATE: ("openai", "chat"),
    Task.EMBED: ("openai", "embedding"),
    Task.TRANSCRIBE: ("openai", "audio_transcription"),
    Task.RERANK: ("hosted_vllm", "rerank"),
}
"""By task: which of the proxy's dialects the service speaks, and the mode that its health checks ask in."""


def is_served(service: Manifest) -> bool:
    """Whether clients are meant to be answered: the operator has given it an address, and it is not suspended."""
    return bool((service.get("status") or {}).get("url")) and not (service.get("spec") or {}).get("suspend")


def configuration(services: Iterable[Manifest], fallbacks: Mapping[str, list[str]]) -> Json:
    """The whole file. Services with the same name for clients share their load; `fallbacks` are by such a name."""
    settings: Json = {"num_retries": 2, "enable_pre_call_checks": True}
    if fallbacks:
        settings["fallbacks"] = [{name: others} for name, others in fallbacks.items()]
    return {
        "model_list": [entry for service in services for entry in _entries(service)],
        "router_settings": settings,
        "litellm_settings": {"drop_params": True},
        "general_settings": {"master_key": "os.environ/LITELLM_MASTER_KEY"},
    }


def names_of(service: Manifest) -> Iterator[str]:
    """What clients may ask for: the model's names, and those of its adapters."""
    spec = service["spec"]
    yield from (spec.get("model") or {}).get("names") or [service["metadata"]["name"]]
    yield from (each["name"] for each in spec.get("adapters") or ())


def key_variable(service: Manifest) -> str:
    """The environment variable of the proxy that holds a key of the service; empty where none is asked for."""
    if not (service["spec"].get("auth") or {}):
        return ""
    metadata = service["metadata"]
    name = f"{metadata['namespace']}_{metadata['name']}_KEY".upper()
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def _entries(service: Manifest) -> Iterator[Json]:
    plan = (service["status"].get("plan")) or {}
    dialect, mode = _SPOKEN[Task(plan.get("task") or Task.GENERATE)]
    variable = key_variable(service)
    for name in names_of(service):
        yield {
            "model_name": name,
            "litellm_params": {
                "model": f"{dialect}/{name}",
                "api_base": service["status"]["url"],
                "api_key": f"os.environ/{variable}" if variable else _NO_KEY,
            },
            "model_info": {"id": _identity(service, name), "mode": mode, **_longest(plan)},
        }


def _identity(service: Manifest, name: str) -> str:
    metadata = service["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}/{name}"


def _longest(plan: Mapping[str, Any]) -> Json:
    """What a request may be long, so that the proxy refuses a longer one itself; nothing where the engine decides."""
    tokens = plan.get("maxModelLen") or 0
    return {"max_input_tokens": tokens} if tokens else {}
