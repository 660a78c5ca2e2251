"""The model's name for clients, and the engine version."""

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.engine_version import EngineVersion
from llmservice.planning.decided import Decided, default


def choose_names(service: LLMService) -> Decided[tuple[str, ...]]:
    """The names in the spec, else the resource's own; never a path or a repository."""
    if service.spec.model.names:
        return Decided(service.spec.model.names)
    name = service.metadata.name
    return Decided(
        (name,), default("model.names", name, "the resource's name, so that it stays the same when the model changes")
    )


def chosen_version(spec: LLMServiceSpec, version: EngineVersion) -> Decided[str]:
    """The version of the catalogue row."""
    if spec.engine_options.version is not None:
        return Decided(version.version)
    reason = "the catalogue's default; this generation keeps it when the default changes"
    return Decided(version.version, default("engineOptions.version", version.version, reason))
