"""The container's environment: the engine's own variables, the cluster's settings, the token, then the user's."""

from collections.abc import Iterator, Mapping

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Json
from llmservice.engines.engine import Launch, ModelSource
from llmservice.planning.facts import RegistrySettings

_TOKEN = "HF_TOKEN"  # noqa: S105  (a name, not a secret)


def environment(
    spec: LLMServiceSpec, source: ModelSource, launch: Launch, registry: RegistrySettings
) -> tuple[Json, ...]:
    """EnvVar objects, each name once; a variable of the user replaces the cluster's setting.

    A replica whose model is all there is given no token and no hub.
    """
    token = None if source.offline else spec.model.token_secret_ref
    uses_hub = not source.offline and (source.scheme == "hf" or token is not None)
    chosen = dict(_values({**launch.environment, **_settings(registry, uses_hub=uses_hub)}))
    if token is not None:
        reference = {"secretKeyRef": token.as_json()}
        chosen[_TOKEN] = {"name": _TOKEN, "valueFrom": reference}
    chosen.update({variable.name: variable.as_json() for variable in spec.engine_options.env})
    return tuple(chosen.values())


def _settings(registry: RegistrySettings, *, uses_hub: bool) -> Mapping[str, str]:
    """The hub's address is for models of the hub, or where a token shows that the hub is used; proxies are for all."""
    if uses_hub and registry.hf_endpoint:
        return {"HF_ENDPOINT": registry.hf_endpoint, **registry.proxies}
    return registry.proxies


def _values(variables: Mapping[str, str]) -> Iterator[tuple[str, Json]]:
    for name, value in variables.items():
        yield name, {"name": name, "value": value}
