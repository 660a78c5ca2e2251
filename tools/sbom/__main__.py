"""`python -m tools.sbom FILE`: write the SBOM."""

import sys
from pathlib import Path

from tools.sbom.document import sbom


def main() -> None:
    """Write it, whole or not at all."""
    (target,) = map(Path, sys.argv[1:])
    text = sbom()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")
    print(f"wrote {target}")  # noqa: T201  (it is a command)


if __name__ == "__main__":
    main()
