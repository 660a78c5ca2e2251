"""The sandbox's own client, with the kubeconfig that its user has changed meanwhile."""

import json
from pathlib import Path

import pytest
import yaml

from sandbox.api_client import ApiClient
from sandbox.certificates import ensure_certificates
from sandbox.errors import SandboxError
from tests.unit.sandbox.builders import a_spec


def test_a_kubeconfig_that_kubectl_has_rewritten_is_still_read(tmp_path: Path) -> None:
    spec = a_spec(cache=tmp_path)
    ensure_certificates(spec)
    written = json.loads(spec.kubeconfig.read_text())
    written["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    spec.kubeconfig.write_text(yaml.safe_dump(written))
    with pytest.raises(SandboxError, match=r"https://127\.0\.0\.1:1 does not answer"):
        ApiClient(spec.kubeconfig).get("/version")
