"""The few requests the sandbox itself makes to its API server: JSON over HTTPS, nothing else."""

import base64
import json
import ssl
import tempfile
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import yaml

from sandbox.errors import SandboxError

TIMEOUT_SECONDS = 10
FIELD_MANAGER = "llmservice-sandbox"


class ApiClient:
    """Requests as the administrator of a kubeconfig written by `certificates`."""

    def __init__(self, kubeconfig: Path) -> None:
        document = yaml.safe_load(kubeconfig.read_text())  # JSON, until `kubectl config` has written it
        cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
        self._server = cluster["server"]
        self._tls = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
        with tempfile.NamedTemporaryFile("w") as credentials:  # ssl reads client certificates from files only
            credentials.write(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
            credentials.flush()
            self._tls.load_cert_chain(credentials.name)

    def get(self, path: str) -> Any:
        """The object at this path; None when there is none; SandboxError when the server cannot be asked."""
        return self._send("GET", path, None, "")

    def patch(self, path: str, body: Any) -> Any:
        """Merge into the object at this path."""
        return self._send("PATCH", path, body, "application/merge-patch+json")

    def apply(self, path: str, manifest: Any) -> Any:
        """Server-side apply of one object; its path ends in its name."""
        query = f"?fieldManager={FIELD_MANAGER}&force=true"
        return self._send("PATCH", path + query, manifest, "application/apply-patch+yaml")

    def delete(self, path: str) -> Any:
        """Delete the object at this path; fine when there is none."""
        return self._send("DELETE", path, None, "")

    def _send(self, method: str, path: str, body: Any, content_type: str) -> Any:
        request = Request(self._server + path, method=method)  # noqa: S310 - https only, from our own file
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", content_type)
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS, context=self._tls) as answer:  # noqa: S310
                return json.load(answer)
        except HTTPError as err:
            with err:  # it holds the connection
                if err.code == HTTPStatus.NOT_FOUND and method in ("GET", "DELETE"):
                    return None
                raise SandboxError(f"{method} {path}: {err.code} {_message(err)}") from err
        except (URLError, OSError) as err:
            raise SandboxError(f"{self._server} does not answer ({err}): `python -m sandbox status`") from err


def _message(err: HTTPError) -> str:
    try:
        return str(json.load(err)["message"])
    except (ValueError, KeyError):
        return str(err.reason)


def _decoded(content: str) -> str:
    return base64.b64decode(content).decode()
