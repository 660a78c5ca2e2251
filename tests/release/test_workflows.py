"""The workflows keep to what no linter asks: actions by commit, rights by job, targets that exist."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.release.names import ROOT, names

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
Step = dict[str, Any]
WRITES = {
    ("release", "image"): {"packages"},
    ("release", "files"): {"packages"},
    ("release", "publish"): {"contents", "packages", "id-token", "attestations"},
    ("release", "pypi"): {"id-token"},
    ("catalogue", "propose"): {"contents", "pull-requests"},
}
"""What each job may change; all others read."""


def workflow(file: Path) -> dict[Any, Any]:
    body: dict[Any, Any] = yaml.safe_load(file.read_text("utf-8"))
    return body


def steps(file: Path) -> Iterator[Step]:
    for job in workflow(file)["jobs"].values():
        yield from job["steps"]


def test_there_are_workflows() -> None:
    assert {file.stem for file in FILES} >= {"ci", "release", "catalogue"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_action_is_named_by_its_commit_and_says_its_version(file: Path) -> None:
    used = re.findall(r"uses: (.*)", file.read_text("utf-8"))
    assert len(used) == sum("uses" in step for step in steps(file))
    pinned = re.compile(r"[\w-]+(/[\w-]+)+@[0-9a-f]{40} # v\d+(\.\d+)*")
    assert [each for each in used if not pinned.fullmatch(each)] == []


def test_one_action_has_one_version_everywhere() -> None:
    used = {each for file in FILES for each in re.findall(r"uses: (.*)", file.read_text("utf-8"))}
    assert len(used) == len({each.partition("@")[0] for each in used})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_job_may_more_than_it_needs(file: Path) -> None:
    body = workflow(file)
    assert body["permissions"] == {}
    writes = {
        name: {right for right, access in job["permissions"].items() if access == "write"}
        for name, job in body["jobs"].items()
    }
    expected = {name: WRITES.get((file.stem, name), set()) for name in body["jobs"]}
    assert writes == expected


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_run_ends_and_none_is_in_the_way_of_another(file: Path) -> None:
    body = workflow(file)
    assert {"group", "cancel-in-progress"} <= set(body["concurrency"])
    assert all(0 < job["timeout-minutes"] <= 90 for job in body["jobs"].values())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_script_has_a_value_pasted_into_it(file: Path) -> None:
    """Values come as variables: a branch may be named `$(curl …)`."""
    assert [step["run"] for step in steps(file) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_target_of_make_exists(file: Path) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    scripts = [step["run"] for step in steps(file) if "run" in step]
    lines = [line for script in scripts for line in re.findall(r"\bmake ((?:[a-z0-9-]+ ?)+)", script)]
    assert {word for line in lines for word in line.split()} <= targets


def test_registry_and_repository_are_those_of_whoever_runs_it() -> None:
    for file in FILES:
        text = file.read_text("utf-8")
        assert names().registry not in text
        assert names().repository not in text
    release = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert "ghcr.io/${GITHUB_REPOSITORY_OWNER,,}" in release
