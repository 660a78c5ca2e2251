"""OCI image archives from folders, without any container tool.

The layout is the OCI image-spec v1.1 `image-layout`: `oci-layout`, `index.json`, and blobs named by their sha256.
The same folders give the same bytes: entries are sorted, owned by root and dated 1970.
Layers are packed on disk, beside the archive: an engine with its libraries may be larger than memory.
"""

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

OCI = "application/vnd.oci.image"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageConfig:
    """How the image's containers start: the part of the OCI config that the sandbox's images need."""

    entrypoint: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    working_directory: str = "/"
    user: str = ""
    stop_signal: str = ""

    def document(self, layers: Sequence[str]) -> bytes:
        """The OCI config of an image of the layers (uncompressed tars) with these digests."""
        config = {
            "Entrypoint": list(self.entrypoint),
            "Env": [f"{name}={value}" for name, value in self.environment.items()],
            "WorkingDir": self.working_directory,
            "User": self.user,
            **({"StopSignal": self.stop_signal} if self.stop_signal else {}),
        }
        machine = platform.machine()
        return json.dumps(
            {
                "architecture": ARCHITECTURES.get(machine, machine),
                "os": "linux",
                "config": config,
                "rootfs": {"type": "layers", "diff_ids": list(layers)},
            }
        ).encode()


def write_layer(layer: Path, root: Path) -> None:
    """Pack a folder as an uncompressed layer."""
    with tarfile.open(layer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(root.rglob("*")):
            tar.add(path, arcname=str(path.relative_to(root)), recursive=False, filter=_anonymous)


def write_image(archive: Path, *, names: Sequence[str], roots: Sequence[Path], config: ImageConfig) -> None:
    """Write one image, a layer per folder (lowest first), under all the names."""
    with TemporaryDirectory(dir=archive.parent) as folder, tarfile.open(archive, "w") as tar:
        layers = [_add_layer(tar, root, Path(folder, "layer.tar")) for root in roots]
        document = config.document([str(layer["digest"]) for layer in layers])
        manifest = _manifest(document, layers)
        for blob in (document, manifest):
            _add(tar, _blob(_digest(blob)), blob)
        _add(tar, "index.json", _index(manifest, names))
        _add(tar, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')


def _add_layer(tar: tarfile.TarFile, root: Path, layer: Path) -> dict[str, object]:
    """Pack the folder into the file `layer` and add that to the archive; the layer's descriptor."""
    write_layer(layer, root)
    with layer.open("rb") as content:
        digest = f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"
    tar.add(layer, arcname=_blob(digest), filter=_anonymous)
    return {"mediaType": f"{OCI}.layer.v1.tar", "digest": digest, "size": layer.stat().st_size}


def _manifest(document: bytes, layers: Sequence[dict[str, object]]) -> bytes:
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{OCI}.manifest.v1+json",
        "config": _descriptor("config.v1+json", document),
        "layers": list(layers),
    }
    return json.dumps(manifest).encode()


def _index(manifest: bytes, names: Sequence[str]) -> bytes:
    entries = [_descriptor("manifest.v1+json", manifest) | {"annotations": _names(name)} for name in names]
    return json.dumps({"schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json", "manifests": entries}).encode()


def _names(name: str) -> dict[str, str]:
    # containerd imports under the first, other tools read the second.
    return {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _blob(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")


def _descriptor(kind: str, content: bytes) -> dict[str, object]:
    return {"mediaType": f"{OCI}.{kind}", "digest": _digest(content), "size": len(content)}


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry
