"""The chart and the one-file installation of a release: those of the tree, with the image by its digest."""

import json
import re
import tarfile
from pathlib import Path
from typing import Any

import yaml

from sandbox.build_helm import helm_build
from sandbox.cache import cache_folder
from sandbox.commands import run
from sandbox.progress import Progress
from tools.release.files import pack
from tools.release.names import OPERATOR
from tools.release.oci_layout import pack_layout, write_chart_layout
from tools.release.provenance import Source


def pinned_values(values: str, digest: str) -> str:
    """The text of values.yaml whose empty `image.digest` is this one."""
    return _once(r'(?<=^  digest: )""$', json.dumps(digest), values)


def pinned_table(readme: str, digest: str) -> str:
    """The chart's README, whose table says the same."""
    return _once(r'(?<=\| `image\.digest` \| string \| )`""`', f'`"{digest}"`', readme)


def pinned_install(install: str, source: Source, digest: str) -> str:
    """install.yaml with the operator's image by tag and digest, in its Deployment and for the Jobs it makes."""
    image = re.escape(source.names.image(OPERATOR, source.version))
    pinned, count = re.subn(rf"{image}(?![\w.@-])", source.names.image(OPERATOR, source.version, digest), install)
    if not count:
        raise ValueError(f"install.yaml does not name {source.names.image(OPERATOR, source.version)}")
    return pinned


def write_chart(chart: Path, work: Path, archive: Path, layout: Path, epoch: int) -> None:
    """Pack the chart of a folder by Helm, and that again with one date; then the same as an OCI archive."""
    helm = helm_build().ensure(cache_folder(), Progress()) / "helm"
    work.mkdir()
    run([helm, "package", chart, "--destination", work])
    (packed,) = work.glob("*.tgz")
    root = work / "chart"
    with tarfile.open(packed) as tar:
        tar.extractall(root, filter="data")
    # Helm reads Chart.yaml wherever it is in the archive; folders have no entries of their own there.
    pack(archive, root, (path for path in root.rglob("*") if path.is_file()), epoch)
    write_chart_layout(work / "layout", archive, _metadata(root / chart.name / "Chart.yaml"))
    pack_layout(work / "layout", layout, epoch)


def _metadata(file: Path) -> dict[str, Any]:
    metadata: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    return metadata


def _once(pattern: str, replacement: str, text: str) -> str:
    changed, count = re.subn(pattern, lambda _: replacement, text, flags=re.MULTILINE)
    if count != 1:
        raise ValueError(f"{pattern!r} is found {count} times, once is wanted")
    return changed
