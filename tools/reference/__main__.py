"""`python -m tools.reference`: write the pages of docs/reference that are made from code."""

from collections.abc import Callable, Mapping
from pathlib import Path

from llmservice.api.crd import crd_manifest
from llmservice.api.v1alpha1.reasons import MEANINGS
from llmservice.cli import VERBS
from llmservice.cli import main as command
from llmservice.engines.registry import ENGINES
from llmservice.settings import VARIABLES
from tools.fit_outcomes.page import fit_outcomes_page
from tools.fit_outcomes.reading import public_starts
from tools.reference.causes import causes_of, causes_page
from tools.reference.cli import cli_page
from tools.reference.fields import fields_page
from tools.reference.metrics import metrics_page
from tools.reference.reasons import reasons_page
from tools.reference.settings import settings_page

FOLDER = Path(__file__).parents[2] / "docs" / "reference"

PAGES: Mapping[str, Callable[[], str]] = {
    "causes.md": lambda: causes_page(ENGINES),
    "cli.md": lambda: cli_page(command, VERBS),
    "fit-outcomes.md": lambda: fit_outcomes_page(public_starts()),
    "llmservice.md": lambda: fields_page(crd_manifest(engines=tuple(ENGINES))),
    "metrics.md": metrics_page,
    "reasons.md": lambda: reasons_page(MEANINGS, causes_of(ENGINES)),
    "settings.md": lambda: settings_page(VARIABLES),
}


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), "utf-8")
        print(f"wrote docs/reference/{name}")  # noqa: T201  (it is a command)


if __name__ == "__main__":
    main()
