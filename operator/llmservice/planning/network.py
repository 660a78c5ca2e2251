"""Who may connect to the engines: the peers in the spec, and the readers of metrics."""

from collections.abc import Iterator
from dataclasses import dataclass

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Json

OPERATOR_NAMESPACE = "llmservice-system"
"""The namespace in which the manifests install the operator."""

_NAMESPACE_NAME = "kubernetes.io/metadata.name"
_OPERATOR_PODS = {
    "app.kubernetes.io/component": "operator",
    "app.kubernetes.io/name": "llmservice-operator",
    "app.kubernetes.io/part-of": "llmservice",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsReaders:
    """Namespaces that read the engines' metrics: the operator's and, unless empty, that of the monitoring system.

    Not part of the pinned facts: an operator in another namespace must reach existing services, and a changed
    NetworkPolicy restarts nothing.
    """

    operator: str = OPERATOR_NAMESPACE
    monitoring: str = ""


DEFAULT_READERS = MetricsReaders()


def admitted_peers(spec: LLMServiceSpec, readers: MetricsReaders) -> tuple[Json, ...] | None:
    """The peers of a NetworkPolicy; None when the resource asks for no policy."""
    if spec.network_policy is None:
        return None
    return (*(peer.as_json() for peer in spec.network_policy.ingress_from), *_metrics_readers(readers))


def _metrics_readers(readers: MetricsReaders) -> Iterator[Json]:
    # The operator's pods alone: in a namespaced installation its namespace has other pods too.
    yield {**_namespace(readers.operator), "podSelector": {"matchLabels": _OPERATOR_PODS}}
    if readers.monitoring:
        yield _namespace(readers.monitoring)


def _namespace(name: str) -> Json:
    return {"namespaceSelector": {"matchLabels": {_NAMESPACE_NAME: name}}}
