"""Golden cases: a folder with service.yaml, and the manifests.yaml that it renders to."""

from dataclasses import dataclass
from pathlib import Path

from llmservice.cli.documents import to_yaml
from llmservice.cli.render import render_file

ROOT = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """One folder."""

    folder: Path

    @property
    def service(self) -> Path:
        """What a user writes."""
        return self.folder / "service.yaml"

    @property
    def manifests(self) -> Path:
        """What the operator makes of it."""
        return self.folder / "manifests.yaml"

    def render(self) -> str:
        """What the operator makes of it today."""
        rendered = render_file(self.folder.name, self.service.read_text("utf-8"))
        if rendered.problems:
            raise AssertionError("\n".join(rendered.problems))
        return to_yaml(rendered.manifests)


CASES = [Case(path.parent) for path in sorted(ROOT.glob("*/service.yaml"))]
