"""Names of models as Ollama writes them: `[[host[:port]/]namespace/]model[:tag]` (types/model/name.go)."""

from dataclasses import dataclass

from llmservice.untrusted.patterns import compiled

_FORM = compiled(
    r"(?:(?:(?P<host>[A-Za-z0-9_][-_.:A-Za-z0-9]{0,349})/)?(?P<namespace>[A-Za-z0-9_][-_A-Za-z0-9]{0,79})/)?"
    r"(?P<model>[A-Za-z0-9_][-_.A-Za-z0-9]{0,79})(?::(?P<tag>[A-Za-z0-9_][-_.A-Za-z0-9]{0,79}))?"
)
_HOST, _NAMESPACE, _TAG = "registry.ollama.ai", "library", "latest"
FORM = "[[host[:port]/]namespace/]model[:tag]"
"""For people."""


@dataclass(frozen=True, slots=True)
class Name:
    """A whole name: what a shorter one leaves out is that of Ollama's own registry."""

    host: str
    namespace: str
    model: str
    tag: str

    @property
    def shown(self) -> str:
        """As `/api/tags` lists it: without the default host and namespace, always with a tag."""
        if self.host.lower() != _HOST:
            return f"{self.host}/{self.namespace}/{self.model}:{self.tag}"
        if self.namespace.lower() != _NAMESPACE:
            return f"{self.namespace}/{self.model}:{self.tag}"
        return f"{self.model}:{self.tag}"


def name_in(text: str) -> Name | None:
    """The parts of a name; None where Ollama would refuse it."""
    if not (found := _FORM.whole(text)):
        return None
    return Name(found["host"] or _HOST, found["namespace"] or _NAMESPACE, found["model"], found["tag"] or _TAG)
