"""Writing files so that a reader sees the old content or the new one, and an unchanged file stays untouched."""

import os
from pathlib import Path


def write(path: Path, content: str, mode: int = 0o644) -> None:
    """Replace the file unless it says so already: kube-proxy ends when its configuration is as much as touched."""
    if path.exists() and path.read_text() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(content)
    partial.replace(path)
