"""The images of the sandbox: pause, and llama.cpp's server laid out like the official one.

Official: entrypoint `/app/llama-server`, listening on all addresses, on a Linux with a shell and curl, which is what
hooks rely on (llama.cpp, .devops/cpu.Dockerfile). The programs besides llama-server are this machine's own.
"""

import shutil
from pathlib import Path

from sandbox.build_llama import BUILD_NUMBER
from sandbox.cache import Build, Recipe
from sandbox.commands import run
from sandbox.node import PAUSE_IMAGE
from sandbox.oci_image import ImageConfig, write_image
from sandbox.progress import Say

# The CPU build also stands in for the CUDA image, so that pods which ask for GPUs can run.
ENGINE_IMAGES = tuple(f"ghcr.io/ggml-org/llama.cpp:{variant}-b{BUILD_NUMBER}" for variant in ("server", "server-cuda"))
TOOLS = (
    *("sh", "cat", "curl", "cut", "date", "echo", "env", "expr", "false", "grep", "head", "id", "kill", "ls", "mkdir"),
    *("printf", "rm", "sed", "seq", "sleep", "sort", "tail", "test", "timeout", "touch", "tr", "true", "wc", "["),
)
USERS = "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
ARCHIVE = "image.tar"


def engine_image_build(server: Path, names: tuple[str, ...] = ENGINE_IMAGES) -> Build:
    """A folder with the archive of the engine image; `server` is the folder of the llama.cpp build."""

    def make(work: Path, output: Path, say: Say) -> None:
        base, app = work / "base", work / "app"
        say("collecting the shell, curl and their libraries")
        shell_base(base)
        (app / "app").mkdir(parents=True, exist_ok=True)
        copy_program(server / "llama-server", app / "app" / "llama-server", libraries_to=base)
        config = ImageConfig(
            entrypoint=("/app/llama-server",),
            environment={"PATH": "/usr/local/bin:/usr/bin:/bin", "LLAMA_ARG_HOST": "0.0.0.0"},  # noqa: S104
            working_directory="/app",
        )
        write_image(output / ARCHIVE, names=names, roots=[base, app], config=config)

    inputs = {"server": server.name.encode(), "names": repr(names).encode(), "recipe": Path(__file__).read_bytes()}
    recipe = Recipe(name="engine-image", version=f"b{BUILD_NUMBER}", inputs=inputs)
    return Build(recipe=recipe, title="Pack the engine image", make=make)


def pause_image_build(programs: Path) -> Build:
    """A folder with the archive of the pause image; `programs` is the folder of the Kubernetes build."""

    def make(work: Path, output: Path, _say: Say) -> None:
        shutil.copy2(programs / "pause", work / "pause")
        write_image(output / ARCHIVE, names=[PAUSE_IMAGE], roots=[work], config=ImageConfig(entrypoint=("/pause",)))

    recipe = Recipe(name="pause-image", version="1", inputs={"programs": programs.name.encode()})
    return Build(recipe=recipe, title="Pack the pause image", make=make)


def shell_base(root: Path, *, more: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> None:
    """A Linux with this machine's shell and tools: `more` than the usual ones, or some of them left out."""
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("bin", "etc", "tmp", "usr/bin"):
        (root / folder).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    (root / "etc/passwd").write_text(USERS)
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    for tool in (*(each for each in TOOLS if each not in without), *more):
        found = shutil.which(tool)
        if found:
            copy_program(Path(found), root / "bin" / tool, libraries_to=root)
    if "curl" not in without:
        (root / "usr/bin/curl").symlink_to("/bin/curl")


def copy_program(program: Path, target: Path, *, libraries_to: Path) -> None:
    """Copy a program, and the libraries that it is linked to, to where it finds them below a root."""
    shutil.copy2(program, target)
    for library in shared_libraries(run(["ldd", program])):
        inside = libraries_to / library.relative_to("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        if not inside.exists():
            shutil.copy2(library, inside)


def shared_libraries(ldd: str) -> list[Path]:
    """The files that ldd's output names, the loader included."""
    words = (word for line in ldd.splitlines() for word in line.split())
    return [Path(word) for word in words if word.startswith("/")]
