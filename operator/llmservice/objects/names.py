"""The names by which the operator knows what it made: labels, annotations, the engine's container, the Lease."""

from llmservice.api.v1alpha1.resource import GROUP

NAME_LABEL = f"{GROUP}/name"
"""On every child and pod; its value is the name of the LLMService, which lives in the same namespace."""

RENDER_VERSION_ANNOTATION = f"{GROUP}/render-version"
"""On a pod template: the version of the rendering that made it."""

CONTAINER_NAME = "engine"
"""The container of a pod in which the engine runs."""

LEASE = "llmservice-operator"
"""The Lease that says which replica of the operator leads, in the operator's own namespace."""
