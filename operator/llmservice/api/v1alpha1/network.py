"""Who may reach the engines over the network."""

from typing import Annotated, ClassVar

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.scheduling import LabelSelector


class NetworkPeer(ApiModel):
    """Pods that are let in: those of the selected namespaces, or of this one when no namespaces are selected."""

    namespace_selector: LabelSelector | None = None
    """Namespaces by their labels; {} means all. Omitted: the namespace of this LLMService."""
    pod_selector: LabelSelector | None = None
    """Pods by their labels. Omitted, or {}: all pods of the namespaces."""

    rules: ClassVar = (
        Rule(
            cel="has(self.namespaceSelector) || has(self.podSelector)",
            holds=lambda peer: peer.namespace_selector is not None or peer.pod_selector is not None,
            message="select namespaces or pods: set namespaceSelector, podSelector or both; {} selects all",
        ),
    )


class NetworkPolicy(ApiModel):
    """Whom a NetworkPolicy lets to the engines' port. What leaves the pods is not restricted."""

    ingress_from: Annotated[tuple[NetworkPeer, ...], Field(max_length=16)]
    """Who sends requests; an empty list is nobody. The operator, and the monitoring that the administrator named, are
    let in besides, for the engines' metrics."""
