"""Who may use the model: clients that send one of the keys in a Secret."""

from llmservice.api.v1alpha1.base import ApiModel
from llmservice.api.v1alpha1.text import DataKey, ObjectName


class KeysSecretRef(ApiModel):
    """A Secret in the same namespace that holds the keys of clients."""

    name: ObjectName
    """Name of the Secret. Each entry is one client: its value is the key, or a key a line. Changes apply within two
    minutes, without a restart."""
    key: DataKey | None = None
    """The one entry to use. Omitted: every entry."""


class Auth(ApiModel):
    """Clients must send a key: `Authorization: Bearer KEY` or `x-api-key: KEY`."""

    keys_secret_ref: KeysSecretRef
    """The keys. A request without one of them is refused (401); the probes and GET /metrics and /health need none."""
