"""Clients with keys, and the Secret that holds those of them that are served."""

import base64
import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service, address_of

SECRET = "clients"  # noqa: S105  (a name)


@dataclass(frozen=True)
class Clients:
    """They ask the service `chat`."""

    kube: Kube

    def write(self, keys: dict[str, str | None]) -> None:
        """Entries of the Secret that are to be there, or (None) not to be there."""
        if self.kube.get("Secret", SECRET) is None:
            self.kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET}, "type": "Opaque"})
        data = {name: key if key is None else base64.b64encode(key.encode()).decode() for name, key in keys.items()}
        self.kube.patch("Secret", SECRET, {"data": data})

    def serve(self, **spec: Any) -> None:
        """Create the service and wait until it is ready."""
        self.kube.create(a_service(**spec))
        self.kube.wait_ready("chat", seconds=180)

    @property
    def address(self) -> str:
        return address_of(self.kube, "chat")

    def status(self, key: str = "", path: str = "/v1/models") -> int:
        """The status of the answer to a GET."""
        return self.get(key, path)[0]

    def get(self, key: str = "", path: str = "/v1/models") -> tuple[int, str]:
        """Status and text of the answer to a GET."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        request = urllib.request.Request(f"{self.address}{path}", headers=headers)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def until(self, key: str, status: int) -> None:
        """Ask with this key until that is the answer: the kubelet shows a changed Secret within two minutes."""
        self.kube.wait(
            lambda: True if self.status(key) == status else None, lambda: json.dumps(self.get(key)), seconds=150
        )


def a_service(**spec: Any) -> Body:
    """The tiny service with keys."""
    return a_tiny_service(**{"auth": {"keysSecretRef": {"name": SECRET}}, **spec})
