"""A model of an Ollama registry, as its uri names it: `ollama://[[host[:port]/]namespace/]model[:tag]`."""

from dataclasses import dataclass

REGISTRY = "ollama://"
_HOST, _NAMESPACE, _TAG = "registry.ollama.ai", "library", "latest"
_WITH_HOST = 3


@dataclass(frozen=True, slots=True)
class RegistryUri:
    """The registry's host (and port), the model there (`namespace/model`), and its tag."""

    host: str
    model: str
    tag: str


def registry_uri(uri: str) -> RegistryUri | None:
    """The parts of a uri, with what it leaves out; None for any other uri."""
    if not uri.startswith(REGISTRY):
        return None
    place, _, name = uri.removeprefix(REGISTRY).rpartition("/")
    model, _, tag = name.partition(":")
    parts = [*filter(None, place.split("/")), model]
    host = parts.pop(0) if len(parts) == _WITH_HOST else _HOST
    return RegistryUri(host, "/".join(parts if len(parts) > 1 else [_NAMESPACE, *parts]), tag or _TAG)
