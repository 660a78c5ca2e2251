"""Archives of OCI artifacts (image-layout 1.1 of OCI's image-spec): the operator's image, the chart as Helm pushes it.

Media types of a chart: helm.sh/docs/topics/registries and HIP 6.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.release.files import pack

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.cncf.helm.config.v1+json"
_CHART = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_NAME = "org.opencontainers.image.ref.name"


def manifest_digest(layout: Path) -> str:
    """The digest of the one manifest in a layout, `sha256:…`."""
    (manifest,) = json.loads((layout / "index.json").read_bytes())["manifests"]
    digest: str = manifest["digest"]
    return digest


def pack_layout(layout: Path, archive: Path, epoch: int) -> None:
    """A layout as one file."""
    pack(archive, layout, (path for path in layout.rglob("*") if path.is_file()), epoch)


def write_chart_layout(layout: Path, chart: Path, metadata: Mapping[str, Any]) -> str:
    """Write the layout of a packed chart into an empty folder; the manifest's digest. `metadata` is its Chart.yaml."""
    blobs = layout / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    config = _blob(blobs, _CONFIG, json.dumps(metadata, sort_keys=True).encode())
    content = _blob(blobs, _CHART, chart.read_bytes())
    body = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": config,
        "layers": [content],
        "annotations": _annotations(metadata),
    }
    manifest = _blob(blobs, _MANIFEST, json.dumps(body, sort_keys=True).encode())
    named = {**manifest, "annotations": {_NAME: str(metadata["version"])}}
    (layout / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}', "utf-8")
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [named]}), "utf-8")
    return str(manifest["digest"])


def _blob(blobs: Path, media_type: str, content: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    (blobs / digest).write_bytes(content)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}


def _annotations(metadata: Mapping[str, Any]) -> dict[str, str]:
    names = {"name": "title", "description": "description", "version": "version"}
    return {f"org.opencontainers.image.{label}": str(metadata[name]) for name, label in names.items()}
