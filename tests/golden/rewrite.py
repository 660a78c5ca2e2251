"""Write the expected manifests and messages anew (`make golden`): read the diff before you commit it.

A difference in manifests means that the template of running pods changes, so every model is restarted by an upgrade
unless `RENDER_VERSION` keeps the old rendering alive. One in messages is what users will read from now on.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.golden.cases import CASES
from tests.golden.sentences import PAGES, page, page_path


def _expected() -> Iterator[tuple[Path, str]]:
    for case in CASES:
        yield case.manifests, case.render()
    for name in PAGES:
        yield page_path(name), page(name)


def rewrite() -> int:
    """Write every file that changed; returns how many did."""
    changed = [(path, text) for path, text in _expected() if not path.exists() or path.read_text("utf-8") != text]
    for path, text in changed:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        sys.stdout.write(f"wrote {path}\n")
    return len(changed)


if __name__ == "__main__":
    sys.stdout.write(f"{rewrite()} of {len(CASES) + len(PAGES)} files changed\n")
