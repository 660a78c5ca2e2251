"""References to other objects: always in the resource's own namespace."""

from llmservice.api.v1alpha1.base import ApiModel
from llmservice.api.v1alpha1.text import DataKey, ObjectName


class SecretKeyRef(ApiModel):
    """One key of a Secret in the same namespace."""

    name: ObjectName
    """Name of the Secret."""
    key: DataKey
    """Key in its data."""


class ConfigMapKeyRef(ApiModel):
    """One key of a ConfigMap in the same namespace."""

    name: ObjectName
    """Name of the ConfigMap."""
    key: DataKey
    """Key in its data."""
