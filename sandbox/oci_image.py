"""OCI image archives from folders, without any container tool.

The layout is the OCI image-spec v1.1 `image-layout`: `oci-layout`, `index.json`, and blobs named by their sha256.
The same folders give the same bytes: entries are sorted, owned by root and dated 1970.
"""

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

OCI = "application/vnd.oci.image"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageConfig:
    """How the image's containers start: the part of the OCI config that the sandbox's images need."""

    entrypoint: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    working_directory: str = "/"
    user: str = ""

    def document(self, layers: Sequence[bytes]) -> bytes:
        """The OCI config of an image of these layers (uncompressed tars)."""
        config = {
            "Entrypoint": list(self.entrypoint),
            "Env": [f"{name}={value}" for name, value in self.environment.items()],
            "WorkingDir": self.working_directory,
            "User": self.user,
        }
        machine = platform.machine()
        return json.dumps(
            {
                "architecture": ARCHITECTURES.get(machine, machine),
                "os": "linux",
                "config": config,
                "rootfs": {"type": "layers", "diff_ids": [_digest(layer) for layer in layers]},
            }
        ).encode()


def layer_of(root: Path) -> bytes:
    """A folder as an uncompressed layer."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as layer:
        for path in sorted(root.rglob("*")):
            layer.add(path, arcname=str(path.relative_to(root)), recursive=False, filter=_anonymous)
    return buffer.getvalue()


def write_image(archive: Path, *, names: Sequence[str], roots: Sequence[Path], config: ImageConfig) -> None:
    """Write one image, a layer per folder (lowest first), under all the names."""
    layers = [layer_of(root) for root in roots]
    document = config.document(layers)
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": f"{OCI}.manifest.v1+json",
            "config": _descriptor("config.v1+json", document),
            "layers": [_descriptor("layer.v1.tar", layer) for layer in layers],
        }
    ).encode()
    entries = [_descriptor("manifest.v1+json", manifest) | {"annotations": _names(name)} for name in names]
    index = {"schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json", "manifests": entries}
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": json.dumps(index).encode()}
    files |= {f"blobs/sha256/{_digest(blob)[7:]}": blob for blob in (*layers, document, manifest)}
    with tarfile.open(archive, "w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def _names(name: str) -> dict[str, str]:
    # containerd imports under the first, other tools read the second.
    return {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _descriptor(kind: str, content: bytes) -> dict[str, object]:
    return {"mediaType": f"{OCI}.{kind}", "digest": _digest(content), "size": len(content)}


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry
