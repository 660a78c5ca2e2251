"""Ollama for CPUs, built from its Go module (go.mod in `ollama/` pins it).

A Go module holds no folder named `vendor`, so three header sets of the llama.cpp inside Ollama are missing from it
(nlohmann, miniaudio, stb): they come from the source of llama.cpp that the sandbox builds anyway.
"""

import shutil
from pathlib import Path

from sandbox.build_helm import required
from sandbox.build_kubernetes import ENVIRONMENT
from sandbox.build_llama import PACKAGE_SHA256, llama_source
from sandbox.cache import Build, Recipe
from sandbox.commands import follow, run
from sandbox.progress import Say

MODULE = Path(__file__).parent / "ollama"
_NAME = "github.com/ollama/ollama"


def ollama_version() -> str:
    """The version that is built, `0.17.4`."""
    return required((MODULE / "go.mod").read_text(), _NAME).removeprefix("v")


def ollama_build() -> Build:
    """A folder with the one program `ollama`. About seven minutes on two cores."""
    files = {path.name: path.read_bytes() for path in sorted(MODULE.iterdir())}
    version = ollama_version()
    inputs = {**files, "arguments": repr(_arguments(version)).encode(), "headers": PACKAGE_SHA256.encode()}
    recipe = Recipe(name="ollama", version=version, inputs=inputs)
    return Build(recipe=recipe, title=f"Build Ollama {version}", make=_make)


def _arguments(version: str) -> list[str]:
    # A registry may refuse a version that is too old for a model: unstamped it is 0.0.0.
    return ["-trimpath", "-ldflags", f"-s -w -X {_NAME}/version.Version={version}"]


def _make(work: Path, output: Path, say: Say) -> None:
    headers = llama_source(work / "headers", say) / "vendor"
    module = work / "module"
    shutil.copytree(MODULE, module, dirs_exist_ok=True)
    build = ["go", "build", "-v", *_arguments(ollama_version()), "-o", f"{output}/", _NAME]
    follow(build, say, cwd=module, environment={**ENVIRONMENT, "CGO_ENABLED": "1", "CGO_CPPFLAGS": f"-I{headers}"})
    run(["strip", output / "ollama"])
