"""Every YAML block of the documentation is one that works."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # it has no types
import pytest
import yaml

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.bench.generator import KEY_VARIABLE
from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.overlay import overlaid
from llmservice.cli.activate import command as activate
from llmservice.cli.bench_generator import GENERATOR_VARIABLE
from llmservice.cli.documents import documents_in
from llmservice.converging.pod_readings import ReadFailureReason
from llmservice.reconcilers.planner import CataloguePlanner, registry_settings
from llmservice.settings import VARIABLES, settings_from

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
OF_THE_TESTS = {"LLMSERVICE_CACHE", "LLMSERVICE_SANDBOX", "LLMSERVICE_TEST_CONTEXT"}
_BLOCK = re.compile(r"^( *)```ya?ml\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
Body = dict[str, Any]


def objects_of(page: Path) -> list[Body]:
    """The objects in the YAML blocks of a page."""
    blocks = [textwrap.dedent(match[2]) for match in _BLOCK.finditer(page.read_text("utf-8"))]
    return [body for block in blocks for _, body in documents_in(block)]


BLOCKS = [(page, body) for page in PAGES for body in objects_of(page)]


def of_kind(kind: str) -> list[Any]:
    return [
        pytest.param(page, body, id=f"{page.stem}-{number}")
        for number, (page, body) in enumerate(BLOCKS)
        if body["kind"] == kind
    ]


def test_every_block_is_found_and_is_an_object() -> None:
    fences = sum(len(re.findall(r"^ *```ya?ml$", page.read_text("utf-8"), re.MULTILINE)) for page in PAGES)
    assert fences == sum(len(_BLOCK.findall(page.read_text("utf-8"))) for page in PAGES)
    assert [body for _, body in BLOCKS if not {"apiVersion", "kind"} <= body.keys()] == []


@pytest.mark.parametrize(("page", "body"), of_kind("ConfigMap"))
def test_an_overlay_is_one_that_the_operator_takes(page: Path, body: Body) -> None:
    assert overlaid(body["data"]) != load_catalogue(), page


@pytest.mark.parametrize(("page", "body"), of_kind("LLMService"))
def test_an_llmservice_is_planned_with_what_its_page_adds(page: Path, body: Body) -> None:
    data = [each["data"] for each in objects_of(page) if each["kind"] == "ConfigMap"]
    body["metadata"] = {"namespace": "default", "uid": "u-1", "generation": 1, **body["metadata"]}
    catalogue = overlaid(data[0]) if data else load_catalogue()
    assert CataloguePlanner(catalogue)(LLMService.parse(body)).container.image


@pytest.mark.parametrize(("page", "body"), [case for case in of_kind("Kustomization") if "patches" in case.values[1]])
def test_settings_in_a_kustomization_are_understood(page: Path, body: Body) -> None:
    patches = [yaml.safe_load(patch["patch"]) for patch in body["patches"]]
    named = {name: value for patch in patches for name, value in _environment(patch)}
    assert named.keys() <= {variable.name for variable in VARIABLES}, page
    assert registry_settings(settings_from(named)) != registry_settings(settings_from({}))


@pytest.mark.parametrize(
    ("page", "body"),
    [each for kind in ("PersistentVolumeClaim", "PersistentVolume", "StorageClass") for each in of_kind(kind)],
)
def test_storage_is_as_kubernetes_takes_it(page: Path, body: Body) -> None:
    assert page.exists()
    kubernetes_validate.validate(body, "1.34", strict=True)


def _environment(part: Any) -> Iterator[tuple[str, str]]:
    """Every pair of name and value anywhere below."""
    if isinstance(part, dict):
        if part.keys() == {"name", "value"}:
            yield part["name"], part["value"]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _environment(each)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_variable_that_a_page_names_is_one_of_the_operator_or_the_tests(page: Path) -> None:
    known = {variable.name for variable in VARIABLES} | OF_THE_TESTS | {KEY_VARIABLE, GENERATOR_VARIABLE}
    known |= {str(option.envvar) for option in activate.params if getattr(option, "envvar", None)}
    assert set(re.findall(r"LLMSERVICE_[A-Z_]*[A-Z]", page.read_text("utf-8"))) <= known


def test_every_word_for_an_unread_pod_is_explained() -> None:
    page = (ROOT / "docs" / "how-to" / "autoscale.md").read_text("utf-8")
    assert [reason for reason in ReadFailureReason if f"`{reason}`" not in page] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


PACKAGE = ROOT / "operator" / "llmservice"
FOLDERS = {path.name: path.parent for parent in (PACKAGE, ROOT) for path in parent.iterdir() if path.is_dir()}
NOT_THERE = ("build/", "operator/__init__.py")
"""What is made when it is needed, and what a page says must never be."""


def paths_in(page: Path) -> list[str]:
    """What stands between backticks and begins with a folder of the repository or of the package."""
    words = re.findall(r"`([\w.-]+/[\w./-]*)`", page.read_text("utf-8"))
    return [word for word in words if word.partition("/")[0] in FOLDERS and not word.startswith(NOT_THERE)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_path_that_a_page_names_exists(page: Path) -> None:
    assert [word for word in paths_in(page) if not any((root / word).exists() for root in (ROOT, PACKAGE))] == []


WALKS = sorted((ROOT / "docs" / "contributing").glob("add-*.md"))
_PYTHON = re.compile(r"^( *)```python\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def test_the_walks_for_contributors_name_files() -> None:
    assert len(WALKS) == 4
    assert min(len(paths_in(walk)) for walk in WALKS) >= 5


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.stem)
def test_the_code_in_a_walk_is_the_operators(walk: Path) -> None:
    code = {line.strip() for file in PACKAGE.rglob("*.py") for line in file.read_text("utf-8").splitlines()}
    shown = [line.strip() for block in _PYTHON.finditer(walk.read_text("utf-8")) for line in block[2].splitlines()]
    assert shown != []
    assert [line for line in shown if line.strip("(),") and line not in code] == []
