"""The names that the operator gives: labels, annotations, field managers, the engine's container, the Lease."""

from collections.abc import Mapping

from llmservice.api.group import GROUP

NAME_LABEL = f"{GROUP}/name"
"""On every child and pod; its value is the name of the LLMService, which lives in the same namespace."""

RENDER_VERSION_ANNOTATION = f"{GROUP}/render-version"
"""On a Deployment: the version of the rendering that made it."""

INTENT_ANNOTATION = f"{GROUP}/intent"
"""On every child: a digest of the manifest that it was applied with."""

BEFORE_SUSPEND_ANNOTATION = f"{GROUP}/replicas-before-suspend"
"""On a suspended Deployment: the replicas to come back to."""

SOURCE_ANNOTATION = f"{GROUP}/made-from"
"""On a Deployment: the fields of the spec and the facts that its pod template was made from."""

LONGEST_SOURCE = 16_384
"""Of such an annotation, in bytes. What is longer is not kept, and then there is nothing to return to."""

SERVED_SOURCE_ANNOTATION = f"{GROUP}/served-before"
"""On a Deployment: the same of the template that served before."""

REVISION_ANNOTATION = "deployment.kubernetes.io/revision"
"""On a Deployment and its ReplicaSets, from the Deployment's controller: that of the current template has the same."""

ROLLOUT_ANNOTATION = f"{GROUP}/rollout"
"""On a Deployment: how its current pod template is rolled out, chosen when it was written."""

TEMPLATE_ANNOTATION = f"{GROUP}/template"
"""On the pods of a group: a digest of what they are made from. No ReplicaSet tells old ones from new ones."""

UPDATE_ANNOTATION = f"{GROUP}/update"
"""On a resource: each new value applies the current facts without an edit of the spec."""

WAKE_ANNOTATION = f"{GROUP}/wake"
"""On a resource: a time (RFC 3339). A service that slept before it is woken; none goes to sleep soon after it."""

LONGEST_ACTIVATION = 4096
"""Of such an annotation, in characters."""

SLICE_MANAGER = GROUP

ACTIVATOR_LABELS: Mapping[str, str] = {
    "app.kubernetes.io/name": "llmservice-activator",
    "app.kubernetes.io/component": "activator",
    "app.kubernetes.io/part-of": "llmservice",
}
"""On the pods of the activator, in the operator's own namespace."""

STARTING_ANNOTATION = f"{GROUP}/starting"
"""On a pod that starts for the first time: it bears annotations of ours that keep its node from being emptied."""

KEEPS_NODE: Mapping[str, str] = {
    "karpenter.sh/do-not-disrupt": "true",
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
}
"""On a pod: its node is not emptied to save money (karpenter.sh/docs/concepts/disruption, "Pod-Level Controls";
cluster-autoscaler/FAQ.md, "What types of pods can prevent CA from removing a node?")."""

OPERATOR = "llmservice-operator"
"""The field manager of everything the operator applies."""

AUTOSCALER = "llmservice-autoscaler"
"""The field manager of replicas decided by the operator's own autoscaler."""

NODE_LIFE = "llmservice-node-life"
"""The field manager of annotations by which pods that start keep their node."""

CONTAINER_NAME = "engine"
"""The container of a pod in which the engine runs."""

PROXY_NAME = "proxy"
"""The container of a pod with the proxy before the engine, and the beginning of the names of its volumes."""

INSPECTION_CONTAINER = "inspect"
"""The container of a pod that looks at a model before there is a service."""

INSPECTION_PREFIX = "llmservice-inspect-"
"""What the names of those Jobs begin with; a digest of what is asked follows."""

LEASE = "llmservice-operator"
"""The Lease that says which replica of the operator leads, in the operator's own namespace."""

CATALOGUE = "llmservice-catalogue"
"""The usual ConfigMap with an administrator's rows, in the operator's own namespace."""

DOWNLOAD_CONTAINER = "download"
"""The container of a pod that downloads a model to a claim."""

DOWNLOAD_PREFIX = "llmservice-download-"
"""What the names of those Jobs begin with; a digest of claim and request follows."""

ACTIVATION_ANNOTATION = f"{GROUP}/activation"
"""On the EndpointSlice by which activators are endpoints of a Service: what they must know of the service, as JSON."""

SERVICE_NAME_LABEL = "kubernetes.io/service-name"
"""On every EndpointSlice: the Service that it belongs to."""

SLICE_MANAGER_LABEL = "endpointslice.kubernetes.io/managed-by"
"""On every EndpointSlice: who writes it; the API group of LLMServices on those of the activators."""
