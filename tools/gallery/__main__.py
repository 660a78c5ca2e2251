"""`python -m tools.gallery`: write manifests/models."""

from pathlib import Path

from tools.gallery.files import gallery

FOLDER = Path(__file__).parents[2] / "manifests" / "models"


def main() -> None:
    """Write every file, and remove those that no row makes any more."""
    files = gallery()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in {path for path in FOLDER.iterdir() if path.name not in files}:
        old.unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text, "utf-8")
    print(f"wrote {len(files)} files to manifests/models")  # noqa: T201  (it is a command)


if __name__ == "__main__":
    main()
