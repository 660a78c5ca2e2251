"""The real Ollama as an image that stands in for the official one of the same version.

Official (its Dockerfile): entrypoint `/bin/ollama` on Ubuntu, with a shell and coreutils, without curl. Here the
programs besides Ollama are this machine's own.
"""

from pathlib import Path

from sandbox.build_ollama import ollama_version
from sandbox.cache import Build, Recipe
from sandbox.engine_image import ARCHIVE, copy_program, shell_base
from sandbox.oci_image import ImageConfig, write_image
from sandbox.progress import Say

OLLAMA_IMAGE = f"docker.io/ollama/ollama:{ollama_version()}"
_TOOLS = ("ln", "sha256sum")
"""Of coreutils, beside those of every engine's image."""
_CONFIG = ImageConfig(
    entrypoint=("/bin/ollama",),
    environment={"PATH": "/usr/local/bin:/usr/bin:/bin", "OLLAMA_HOST": "0.0.0.0:11434"},  # as the official one says
)


def ollama_image_build(program: Path) -> Build:
    """A folder with the archive of the image; `program` is the folder of the build of Ollama."""

    def make(work: Path, output: Path, say: Say) -> None:
        base, app = work / "base", work / "app"
        say("collecting the shell and its libraries")
        shell_base(base, more=_TOOLS, without=("curl",))
        (app / "bin").mkdir(parents=True, exist_ok=True)
        copy_program(program / "ollama", app / "bin" / "ollama", libraries_to=base)
        write_image(output / ARCHIVE, names=[OLLAMA_IMAGE], roots=[base, app], config=_CONFIG)

    inputs = {"program": program.name.encode(), "recipe": Path(__file__).read_bytes()}
    recipe = Recipe(name="ollama-image", version=ollama_version(), inputs=inputs)
    return Build(recipe=recipe, title=f"Pack the image of Ollama {ollama_version()}", make=make)
