"""Resource requests and limits of a replica: devices, CPU, memory."""

from collections.abc import Mapping
from dataclasses import dataclass

from llmservice.api.v1alpha1.quantity import amount_of
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.planning.facts import Facts
from llmservice.planning.service_plan import Default

_REQUESTS = {"cpu": "250m", "memory": "512Mi"}
_WHY = "small enough for any node; without a limit the engine may use what is free, raise it to reserve more"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerResources:
    """Requests and limits by resource name; `cores` and `memory_bytes` are the limits as numbers, 0 when none."""

    requests: Mapping[str, str]
    limits: Mapping[str, str]
    cores: float
    memory_bytes: int
    defaults: tuple[Default, ...]


def choose_resources(spec: LLMServiceSpec, facts: Facts) -> ContainerResources:
    """The user's amounts; small requests where omitted; devices as limits.

    In Kubernetes a limit without a request is its own request, so no smaller one is added.
    """
    own = spec.pod.resources
    requests, limits = own.requests.as_json(), own.limits.as_json()
    added = {name: amount for name, amount in _REQUESTS.items() if name not in requests and name not in limits}
    devices = {facts.accelerator.resource_name: str(spec.gpu.count)} if facts.accelerator else {}
    return ContainerResources(
        requests={**added, **requests},
        limits={**limits, **devices},
        cores=_amount(own.limits.cpu),
        memory_bytes=int(_amount(own.limits.memory)),
        defaults=tuple(
            Default(field=f"pod.resources.requests.{name}", value=amount, reason=_WHY) for name, amount in added.items()
        ),
    )


def _amount(limit: str | None) -> float:
    return float(amount_of(limit)) if limit else 0.0
