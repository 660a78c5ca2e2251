"""The files of a release on a machine: what they say of each other, and the command from the wheel."""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

from llmservice import __version__
from tools.release import files
from tools.release.names import ROOT
from tools.release.python_files import plugin_path, this_machine

# They need no cluster; they are here because there has to be a release.
pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.release]

EXAMPLE = ROOT / "manifests" / "examples" / "vllm-awq.yaml"


def digests(release: Path) -> dict[str, str]:
    """The digest of each file by its name, as SHA256SUMS has it."""
    lines = (release / files.SUMS).read_text("utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def test_the_sums_are_those_of_every_file(release: Path) -> None:
    said = digests(release)
    assert set(said) == {path.name for path in release.iterdir()} - {files.SUMS}
    subprocess.run(["sha256sum", "--check", "--quiet", files.SUMS], cwd=release, check=True)  # noqa: S603, S607
    assert len(said) >= len(("image", "chart", "layout", "install", "wheel", "sdist", "plugin", "krew", "sbom"))


def test_the_provenance_has_every_file_but_itself_and_the_sums(release: Path) -> None:
    said = json.loads((release / files.PROVENANCE).read_bytes())
    subjects = {each["name"]: each["digest"]["sha256"] for each in said["subject"]}
    assert subjects == {name: digest for name, digest in digests(release).items() if name != files.PROVENANCE}


def test_the_chart_as_an_artifact_is_the_chart_as_a_file(release: Path) -> None:
    chart = release / files.chart_archive(__version__)
    with tarfile.open(release / files.chart_layout(__version__)) as tar:
        blob = tar.extractfile(f"blobs/sha256/{files.sha256(chart)}")
        assert blob is not None
        assert blob.read() == chart.read_bytes()


def test_krew_would_take_the_archive(release: Path) -> None:
    spec = yaml.safe_load((release / files.KREW).read_text("utf-8"))["spec"]
    archive = plugin_path(release, __version__)
    (platform,) = (each for each in spec["platforms"] if each["uri"].endswith(f"/{archive.name}"))
    assert platform["sha256"] == files.sha256(archive)
    labels = platform["selector"]["matchLabels"]
    assert (labels["os"], labels["arch"]) == (this_machine().os, this_machine().arch)
    with tarfile.open(archive) as tar:
        assert tar.getmember(platform["bin"]).mode & 0o111


def test_the_command_from_the_wheel_plans(release: Path, tmp_path: Path) -> None:
    (wheel,) = release.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)  # noqa: S603
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run([tmp_path / "bin" / "python", *install], cwd=tmp_path, check=True, env=clean)  # noqa: S603
    llmservice = tmp_path / "bin" / "llmservice"
    version = subprocess.run([llmservice, "--version"], capture_output=True, text=True, env=clean, check=True)  # noqa: S603
    assert version.stdout.split()[-1] == __version__
    plan = subprocess.run([llmservice, "plan", EXAMPLE], capture_output=True, text=True, env=clean, check=False)  # noqa: S603
    assert plan.returncode == 0, plan.stderr
    assert "vllm" in plan.stdout
