"""A model of an Ollama registry: its manifest tells the size, the header of its GGUF file the rest.

Addresses and media types: Ollama, `server/images.go` (`pullModelManifest`), `server/download.go`, `server/model.go`. A
blob is redirected to where it lies. What needs an account's key is not asked: that is Ollama's to answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from yarl import URL

from llmservice.inspection.hub_requests import HubRequests
from llmservice.inspection.model_files import InspectionFailed, Listing
from llmservice.models.inspection_failure import FailureReason
from llmservice.models.plausible import MalformedModel, json_object, limit_of
from llmservice.models.registry_uri import RegistryUri
from llmservice.untrusted.patterns import compiled

_MOST_MANIFEST_BYTES = 2**20
_WEIGHTS = "application/vnd.ollama.image.model"
_FILE = "model.gguf"
_DIGEST = compiled(r"sha256[:-][0-9a-f]{64}")
_NEEDS_A_KEY = frozenset((401, 403))


@dataclass(slots=True)
class RegistryFiles:
    """Reads one model: its one GGUF file, by the name `model.gguf`."""

    requests: HubRequests
    model: RegistryUri
    _digest: str = field(default="", init=False)

    async def listing(self) -> Listing:
        """The file by the manifest; raises InspectionFailed."""
        manifest = await self._get(f"manifests/{self.model.tag}", _MOST_MANIFEST_BYTES + 1)
        try:
            self._digest, size = _weights(json_object(manifest, "the manifest", _MOST_MANIFEST_BYTES))
        except MalformedModel as error:
            raise InspectionFailed(FailureReason.NOT_A_MODEL, str(error)) from error
        return Listing(sizes={_FILE: size})

    async def read(self, name: str, begin: int, size: int) -> bytes:  # noqa: ARG002  (there is one file)
        """So many bytes of the file from `begin` on; raises InspectionFailed."""
        return await self._get(f"blobs/{self._digest}", size, begin=begin, part=True)

    async def _get(self, path: str, size: int, *, begin: int = 0, part: bool = False) -> bytes:
        url = URL(f"https://{self.model.host}/v2/{self.model.model}/{path}", encoded=True)
        try:
            return await self.requests.get(
                url, f"{self.model.model}:{self.model.tag}", size=size, begin=begin, part=part
            )
        except InspectionFailed as failed:
            if failed.status in _NEEDS_A_KEY:
                raise InspectionFailed(
                    FailureReason.NO_ROUTE, f"{self.model.model}: the registry asks for a key"
                ) from failed
            raise


def _weights(manifest: Mapping[str, Any]) -> tuple[str, int]:
    """Digest and bytes of the GGUF file; raises MalformedModel where there is none."""
    layers = manifest.get("layers")
    for layer in layers if isinstance(layers, list) else ():
        if isinstance(layer, dict) and layer.get("mediaType") == _WEIGHTS:
            digest, size = layer.get("digest"), layer.get("size")
            if isinstance(digest, str) and _DIGEST.matches(digest) and isinstance(size, int):
                return digest, size if 0 <= size <= limit_of("file_bytes") else 0
    raise MalformedModel("the manifest names no GGUF file")
