"""Sites of several versions lie beside each other, in a branch of a clone."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_AUTHOR = {f"GIT_{who}_{what}": "test@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def test_versions_are_kept_beside_each_other(tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", str(tmp_path)], check=True)  # noqa: S603, S607
    binaries = Path(sys.executable).parent
    environment = {**os.environ, **_AUTHOR, "PATH": f"{binaries}:{os.environ['PATH']}", "NO_MKDOCS_2_WARNING": "1"}

    def deployed(*arguments: str) -> None:
        command = [
            str(binaries / "mike"),
            "deploy",
            "--config-file",
            "mkdocs-versions.yml",
            "--branch",
            "site-versions",
        ]
        subprocess.run([*command, *arguments], cwd=tmp_path, env=environment, check=True, capture_output=True)  # noqa: S603

    def kept(path: str) -> str:
        shown = ["git", "show", f"site-versions:{path}"]
        return subprocess.run(shown, cwd=tmp_path, capture_output=True, text=True, check=True).stdout  # noqa: S603

    deployed("0.1", "latest")
    deployed("--update-aliases", "0.2", "latest")
    assert {each["version"]: each["aliases"] for each in json.loads(kept("versions.json"))} == {
        "0.1": [],
        "0.2": ["latest"],
    }
    assert '"version": {"default": "latest", "provider": "mike"}' in kept("0.1/reference/reasons.html")
