"""Who reaches the engines: whom the resource names, and who reads every engine's metrics whatever it names."""

from collections.abc import Iterator
from dataclasses import dataclass

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.planning.service_plan import Json

OPERATOR_NAMESPACE = "llmservice-system"
"""Where the manifests install the operator."""

_NAMESPACE_NAME = "kubernetes.io/metadata.name"
_OPERATOR_PODS = {
    "app.kubernetes.io/component": "operator",
    "app.kubernetes.io/name": "llmservice-operator",
    "app.kubernetes.io/part-of": "llmservice",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsReaders:
    """Namespaces of those who read the engines' metrics; no `monitoring`: none but the operator.

    No part of the pinned facts: an operator that moved must reach the services that its predecessor made, and a
    policy restarts nothing.
    """

    operator: str = OPERATOR_NAMESPACE
    monitoring: str = ""


USUAL_READERS = MetricsReaders()


def admitted_peers(spec: LLMServiceSpec, readers: MetricsReaders) -> tuple[Json, ...] | None:
    """The peers of a NetworkPolicy; None where the resource asks for no policy."""
    if spec.network_policy is None:
        return None
    return (*(peer.as_json() for peer in spec.network_policy.ingress_from), *_reading(readers))


def _reading(readers: MetricsReaders) -> Iterator[Json]:
    # The pods too: in a namespaced installation the operator's namespace is full of others.
    yield {**_namespace(readers.operator), "podSelector": {"matchLabels": _OPERATOR_PODS}}
    if readers.monitoring:
        yield _namespace(readers.monitoring)


def _namespace(name: str) -> Json:
    return {"namespaceSelector": {"matchLabels": {_NAMESPACE_NAME: name}}}
