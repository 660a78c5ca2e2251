"""The LLMServices of these tests."""

from typing import Any

from sandbox.build_ollama import ollama_version
from tests.cluster.kube import Body
from tests.cluster.services import a_tiny_service

AUTHORITY = "/etc/registry/authority.pem"
"""Where the certificate is that makes the engine trust the registry."""


def an_ollama_service(uri: str, **spec: Any) -> Body:
    """A CPU service of four requests at once; the authority's certificate is in the ConfigMap `authority`."""
    fields = {
        "model": {"uri": uri},
        "maxModelLen": 2048,
        "maxNumSeqs": 4,
        "engineOptions": {
            "version": ollama_version(),
            "env": [{"name": "SSL_CERT_FILE", "value": AUTHORITY}],
            "files": [{"path": AUTHORITY, "configMapKeyRef": {"name": "authority", "key": "authority.pem"}}],
        },
        "drain": {"timeoutSeconds": 300},
        "pod": {"resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}},
    }
    return a_tiny_service(engine="ollama", **{**fields, **spec})
