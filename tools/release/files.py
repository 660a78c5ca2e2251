"""The files of a release: what each is called, and how it is written so that the same content gives the same bytes."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

SUMS = "SHA256SUMS"
INSTALL, SBOM, KREW, NOTES, PROVENANCE = "install.yaml", "sbom.cdx.json", "llm.yaml", "NOTES.md", "provenance.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A platform of kubectl-llm: `linux`, `darwin` or `windows`; `amd64` or `arm64`."""

    os: str
    arch: str


def image_archive(version: str, arch: str) -> str:
    """The operator's image as an OCI archive."""
    return f"operator-{version}-linux-{arch}.oci.tar"


def chart_archive(version: str) -> str:
    """The chart as Helm packs it."""
    return f"llmservice-{version}.tgz"


def chart_layout(version: str) -> str:
    """The chart as an OCI archive, as a registry would keep it."""
    return f"llmservice-{version}.chart.oci.tar"


def plugin_archive(version: str, target: Target) -> str:
    """kubectl-llm for one platform."""
    return f"kubectl-llm_v{version}_{target.os}_{target.arch}.tar.gz"


def plugin_target(name: str, version: str) -> Target | None:
    """The platform of an archive by its name; None if it is none of this version."""
    head, tail = f"kubectl-llm_v{version}_", ".tar.gz"
    parts = name.removeprefix(head).removesuffix(tail).split("_")
    if not (name.startswith(head) and name.endswith(tail)) or len(parts) != len(("os", "arch")):
        return None
    return Target(os=parts[0], arch=parts[1])


def sha256(path: Path) -> str:
    """The digest of a file in hex."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def sums(digests: Mapping[str, str]) -> str:
    """Names and digests as `sha256sum --check` reads them."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))


def pack(archive: Path, root: Path, members: Iterable[Path], epoch: int) -> None:
    """Write files, folders and links as a tar, `.gz` by its name: sorted, owned by root, dated by `epoch` (seconds)."""
    with archive.open("wb") as raw:
        if archive.name.endswith("gz"):
            with gzip.GzipFile("", "wb", 9, raw, mtime=epoch) as packed:
                _tar(packed, root, members, epoch)
        else:
            _tar(raw, root, members, epoch)


def _tar(out: io.BufferedIOBase, root: Path, members: Iterable[Path], epoch: int) -> None:
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(members):
            member = tar.gettarinfo(path, path.relative_to(root).as_posix())
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = epoch
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            if member.isreg():
                with path.open("rb") as content:
                    tar.addfile(member, content)
            else:
                tar.addfile(member)
