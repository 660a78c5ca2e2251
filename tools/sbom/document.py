"""The document: cyclonedx-py reads the lock, this adds what it cannot know of the project. The same bytes each time."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from llmservice import __version__

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements" / "runtime.lock"
_PROJECT = ROOT / "pyproject.toml"
_VERSION = SchemaVersion.V1_6


def sbom() -> str:
    """The SBOM as JSON; raises ValueError when CycloneDX's own schema does not take it."""
    text = unchecked()
    if problem := JsonStrictValidator(_VERSION).validate_str(text):
        raise ValueError(f"the SBOM is not valid: {problem}")
    return text


def unchecked() -> str:
    """The same, and nobody has asked the schema."""
    document = _of_the_lock()
    ours = document["metadata"]["component"]
    ours |= {"version": __version__, "purl": f"pkg:pypi/{ours['name']}@{__version__}"}
    # Its text is the lines of the lock once more.
    components = [{**each, "description": ""} for each in document["components"]]
    document["components"] = [{key: part for key, part in each.items() if part} for each in components]
    document["dependencies"] = _with_direct(document, ours["bom-ref"])
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _of_the_lock() -> dict[str, Any]:
    program = Path(sys.executable).with_name("cyclonedx-py")
    options = ("--sv", _VERSION.to_version(), "--output-reproducible", "--of", "JSON", "--pyproject", str(_PROJECT))
    command = [str(program), "requirements", str(LOCK), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def _with_direct(document: Mapping[str, Any], ours: str) -> list[dict[str, Any]]:
    """What we depend on directly; of the others the lock says nothing."""
    project = tomllib.loads(_PROJECT.read_text("utf-8"))["project"]
    direct = {_normal(re.split(r"[<>=!~;\[ ]", each, maxsplit=1)[0]) for each in project["dependencies"]}
    found = sorted(each["bom-ref"] for each in document["components"] if _normal(each["name"]) in direct)
    return [*(each for each in document["dependencies"] if each["ref"] != ours), {"ref": ours, "dependsOn": found}]


def _normal(name: str) -> str:
    """A package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
