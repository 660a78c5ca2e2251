"""Another registry, repository or version in every file that names it: for forks, and for the next version."""

import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tools.release.names import BENCH, OPERATOR, ROOT, Names

_HELD = {".lock", ".sum", ".mod"}
"""Made from elsewhere: what looks like our version there is somebody else's."""
_VERSIONED = (
    ("operator/llmservice/__init__.py", r'(?<=__version__ = "){}(?=")'),
    ("charts/llmservice/Chart.yaml", r"(?<=ersion: ){}(?=\s)"),
    ("Dockerfile", r'(?<=image\.version="){}(?=")'),
    ("images/bench/Dockerfile", r'(?<=image\.version="){}(?=")'),
    ("gitops/flux/operator.yaml", r"(?<=tag: v){}(?=\s)"),
    ("gitops/argocd/operator.yaml", r"(?<=targetRevision: v){}(?=\s)"),
)
"""Where the version stands without the image: the file, and a pattern with the place of the old one."""


def versioned(path: str, text: str, old: str, new: str) -> str:
    """A file of the repository (its path with slashes) that says another version."""
    patterns = [pattern for file, pattern in _VERSIONED if file == path]
    patterns += [rf"(?<=/{image}:){{}}(?![\w.-])" for image in (OPERATOR, BENCH)]
    for pattern in patterns:
        text = re.sub(pattern.format(re.escape(old)), lambda _: new, text)
    return text


def rewrite(path: Path, change: Callable[[str], str]) -> bool:
    """Change a text file; False where it says nothing else then, or is no text."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return False
    if (changed := change(text)) == text:
        return False
    path.write_text(changed, "utf-8")
    return True


def rename_checkout(old: Names, new: Names, versions: tuple[str, str]) -> list[str]:
    """Every tracked file of this checkout that said something else; `versions` are old and new."""

    def change(name: str, text: str) -> str:
        return versioned(name, old.renamed(text, new), *versions)

    return [name for name in _tracked() if rewrite(ROOT / name, partial(change, name))]


def _tracked() -> Iterator[str]:
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.suffix not in _HELD and path.is_file() and not path.is_symlink():
            yield name
