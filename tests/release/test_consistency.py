"""One version, one registry, one repository: whatever repeats them says the same."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from llmservice import __version__
from tools.release.names import ROOT, names

NAMES = names()
OURS = ("operator", "bench", "ctranslate2", "transformers")
"""The images that the project builds."""
HOST = NAMES.registry.partition("/")[0]


def tracked() -> Iterator[tuple[Path, str]]:
    """Every text file of the repository but the locks, the recorded pages and this folder."""
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S603
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if not path.is_file() or name.startswith("tests/release/") or path.suffix in {".lock", ".sum", ".svg", ".png"}:
            continue
        try:
            yield path, path.read_text("utf-8")
        except UnicodeDecodeError:
            continue


def test_every_image_of_ours_is_in_the_one_registry() -> None:
    image = re.compile(rf"(?<![\w.-])(?<![\w.-]/){re.escape(HOST)}/[a-z0-9-]+/(?:{'|'.join(OURS)})\b")
    said = {(found, path) for path, text in tracked() for found in image.findall(text)}
    others = {(found, path) for found, path in said if not found.startswith(f"{NAMES.registry}/")}
    assert others == set()
    files = {path.relative_to(ROOT).as_posix() for _, path in said}
    assert {"charts/llmservice/values.yaml", "manifests/install.yaml", "manifests/base/deployment.yaml"} <= files
    assert {f"operator/llmservice/catalog/engines/{name}.yaml" for name in OURS[2:]} <= files
    assert {"operator/llmservice/bench/job.py", "images/bench/Dockerfile"} <= files


def test_every_address_of_the_repository_is_the_one() -> None:
    host, owner, name = NAMES.repository.removeprefix("https://").split("/")
    address = re.compile(rf"https://{re.escape(host)}/[\w-]+/{re.escape(name)}(?![\w-])")
    said = {(found, path.relative_to(ROOT).as_posix()) for path, text in tracked() for found in address.findall(text)}
    assert {found for found, _ in said} == {f"https://{host}/{owner}/{name}"}
    assert {path for _, path in said} >= {"gitops/flux/operator.yaml", "gitops/argocd/operator.yaml", "pyproject.toml"}


def test_every_tag_of_the_operators_image_is_the_version() -> None:
    tag = re.compile(r"[\w.-]+/operator:(\d+\.\d+\.\d+[\w.-]*)")
    said = {(found, path.relative_to(ROOT).as_posix()) for path, text in tracked() for found in tag.findall(text)}
    assert {found for found, _ in said} == {__version__}
    assert {"manifests/install.yaml", "manifests/base/deployment.yaml", "manifests/activator/deployment.yaml"} <= {
        path for _, path in said
    }


def test_chart_and_application_have_the_version() -> None:
    chart = yaml.safe_load((ROOT / "charts/llmservice/Chart.yaml").read_text("utf-8"))
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


def test_the_chart_runs_the_image_of_its_own_version() -> None:
    """An empty tag means the chart's appVersion, an empty digest that the tag decides."""
    image = yaml.safe_load((ROOT / "charts/llmservice/values.yaml").read_text("utf-8"))["image"]
    assert (image["repository"], image["tag"], image["digest"]) == (f"{NAMES.registry}/operator", "", "")


@pytest.mark.parametrize("file", ["flux/operator.yaml", "argocd/operator.yaml"])
def test_gitops_examples_follow_the_tag_of_the_version(file: str) -> None:
    said = re.findall(r"(?:tag|targetRevision): (v\d\S*)", (ROOT / "gitops" / file).read_text("utf-8"))
    assert said == [f"v{__version__}"]


@pytest.mark.parametrize("file", ["Dockerfile", "images/bench/Dockerfile"])
def test_an_image_says_its_version_and_where_it_comes_from(file: str) -> None:
    labels = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"', (ROOT / file).read_text("utf-8")))
    assert (labels["version"], labels["source"]) == (__version__, NAMES.repository)
