"""The container's environment: the engine's own variables, the cluster's settings, the token, then the user's."""

from collections.abc import Iterator, Mapping

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import Launch, ModelSource
from llmservice.planning.facts import RegistrySettings
from llmservice.planning.service_plan import Json

_TOKEN = "HF_TOKEN"  # noqa: S105  (a name, not a secret)


def environment(
    spec: LLMServiceSpec, source: ModelSource, launch: Launch, registry: RegistrySettings
) -> tuple[Json, ...]:
    """EnvVar objects, each name once: what the user sets takes the place of the cluster's setting."""
    asks_hub = source.scheme == "hf" or spec.model.token_secret_ref is not None
    chosen = dict(_values({**launch.environment, **_settings(registry, asks_hub=asks_hub)}))
    if spec.model.token_secret_ref is not None:
        reference = {"secretKeyRef": spec.model.token_secret_ref.as_json()}
        chosen[_TOKEN] = {"name": _TOKEN, "valueFrom": reference}
    chosen.update({variable.name: variable.as_json() for variable in spec.engine_options.env})
    return tuple(chosen.values())


def _settings(registry: RegistrySettings, *, asks_hub: bool) -> Mapping[str, str]:
    """A claim needs no way to the hub, unless a token tells that more is fetched there; a proxy may matter anyway."""
    if asks_hub and registry.hf_endpoint:
        return {"HF_ENDPOINT": registry.hf_endpoint, **registry.proxies}
    return registry.proxies


def _values(variables: Mapping[str, str]) -> Iterator[tuple[str, Json]]:
    for name, value in variables.items():
        yield name, {"name": name, "value": value}
