"""What is decided about the route of a service, before any manifest is written."""

from collections.abc import Mapping
from dataclasses import dataclass

from llmservice.catalog.accelerator import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutePlan:
    """The HTTPRoute, and the InferencePool behind it where there is a `picker`.

    `parents` are parentRefs and `timeouts` those of a rule, both as the Gateway API has them; `picker` is an
    endpointPickerRef. Clients put `prefix` before every path (empty: nothing), which the engine does not see. With
    `everything` all paths lead to the engine, else those of the OpenAI API.
    """

    parents: tuple[Json, ...]
    hostnames: tuple[str, ...]
    prefix: str
    everything: bool
    timeouts: Mapping[str, str]
    annotations: Mapping[str, str]
    picker: Json | None = None
