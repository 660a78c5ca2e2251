"""Where a release is published: the registry of its images and the repository of its sources, from pyproject.toml."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
OPERATOR, CHART, BENCH = "operator", "charts/llmservice", "bench"
"""The operator's image, its chart, and the image of `llmservice bench --in-cluster`, below the registry."""

_REGISTRY = re.compile(r"[a-z0-9.-]+(:\d+)?(/[a-z0-9._-]+)+")
_START = r"(?<![\w.-])(?<![\w.-]/)"
"""Not within a longer name, such as that of a mirror; `oci://` may be before it."""
_REPOSITORY = re.compile(r"https://[a-z0-9.-]+(/[\w.-]+){2}", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """`registry` as `host/owner`, `repository` as `https://host/owner/name`. Raises ValueError for anything else."""

    registry: str
    repository: str

    def __post_init__(self) -> None:
        if not _REGISTRY.fullmatch(self.registry):
            raise ValueError(f"registry: {self.registry!r} is not `host/owner` in lower case")
        if not _REPOSITORY.fullmatch(self.repository):
            raise ValueError(f"repository: {self.repository!r} is not `https://host/owner/name`")

    def image(self, name: str, tag: str, digest: str = "") -> str:
        """An image of ours, `host/owner/operator:0.1.0@sha256:…`; without a digest where none is known."""
        return f"{self.registry}/{name}:{tag}" + (f"@{digest}" if digest else "")

    def downloads(self, version: str) -> str:
        """Where a release's files lie, without the last slash."""
        return f"{self.repository}/releases/download/v{version}"

    def renamed(self, text: str, to: "Names") -> str:
        """A text that names these, with the others in their place."""
        text = _replaced(text, self.registry, to.registry)
        return _replaced(text, self.repository, to.repository)


def _replaced(text: str, old: str, new: str) -> str:
    return re.sub(rf"{_START}{re.escape(old)}(?![\w-])", lambda _: new, text)


def names_in(pyproject: str) -> Names:
    """The names in the text of a pyproject.toml: its table `tool.llmservice.release`."""
    return Names(**tomllib.loads(pyproject)["tool"]["llmservice"]["release"])


def names() -> Names:
    """Those of this checkout."""
    return names_in((ROOT / "pyproject.toml").read_text("utf-8"))
