"""The SBOM of the image: all that the lock names, and nothing that changes from one build to the next."""

import json
import re
import tomllib
from typing import Any

import pytest

from llmservice import __version__
from tools.sbom.document import LOCK, ROOT, sbom, unchecked


@pytest.fixture(scope="module")
def text() -> str:
    """It is valid: CycloneDX's own schema was asked."""
    return sbom()


@pytest.fixture(scope="module")
def document(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


def locked() -> dict[str, tuple[str, set[str]]]:
    """Each package of the lock with its version and hashes."""
    entries = re.split(r"^(?=[a-zA-Z0-9])", LOCK.read_text(), flags=re.MULTILINE)
    heads = ((entry, re.match(r"([\w.-]+)==([^\s;]+)", entry)) for entry in entries)
    return {head[1]: (head[2], set(re.findall(r"sha256:(\w{64})", entry))) for entry, head in heads if head}


def test_every_package_of_the_lock_is_in_it_with_version_and_hashes(document: dict[str, Any]) -> None:
    listed = {
        each["name"]: (
            each["version"],
            {digest["content"] for place in each["externalReferences"] for digest in place["hashes"]},
        )
        for each in document["components"]
    }
    assert listed == locked()
    assert len(listed) > 20


def test_the_project_itself_is_in_it_with_what_it_needs(document: dict[str, Any]) -> None:
    ours = document["metadata"]["component"]
    assert (ours["name"], ours["version"]) == ("llmservice-operator", __version__)
    (needs,) = (each["dependsOn"] for each in document["dependencies"] if each["ref"] == ours["bom-ref"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert len(needs) == len(project["dependencies"])


def test_two_builds_are_the_same_bytes(text: str) -> None:
    assert unchecked() == text
    assert "timestamp" not in text
    assert "serialNumber" not in text
