"""The programs of a sandbox as values: what to run, and where its health can be asked inside the cell."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.processes import ProcessIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A program that is left running. `health_url` answers 200 when it is well. `files` are configuration it reads."""

    name: str
    argv: tuple[str, ...]
    health_url: str
    files: tuple[Path, ...] = ()

    @property
    def digest(self) -> str:
        """Changes with the command line or a configuration file: then a running program is out of date."""
        contents = [path.read_text() for path in self.files]
        return hashlib.sha256(json.dumps([self.argv, contents]).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """Where records and logs of a sandbox's components lie."""

    folder: Path

    def record(self, name: str) -> Path:
        """The component's identity and digest."""
        return self.folder / "components" / f"{name}.json"

    def log(self, name: str) -> Path:
        """What the component printed, all starts in one file."""
        return self.folder / "logs" / f"{name}.log"

    def running(self, name: str) -> ProcessIdentity | None:
        """The component's process, if it lives."""
        identity = ProcessIdentity.load(self.record(name))
        return identity if identity and identity.is_running() else None

    def noted(self, name: str) -> dict[str, Any]:
        """What the record says; empty when there is none."""
        try:
            return dict(json.loads(self.record(name).read_text()))
        except (FileNotFoundError, ValueError):
            return {}

    def names(self) -> list[str]:
        """Every component that was ever started."""
        return sorted(path.stem for path in (self.folder / "components").glob("*.json"))
