"""The image of the proxy before engines: Debian's HAProxy under the name of the official image that pods ask for.

Official (docker-library/haproxy, 3.2/alpine): HAProxy with Lua and its Prometheus exporter on a Linux with a shell, as
user 99. Debian 12 has 2.6, built with both; the programs beside it are this machine's own.
"""

import re
import shutil
from pathlib import Path

from sandbox.cache import Build, Recipe
from sandbox.commands import run
from sandbox.engine_image import ARCHIVE, copy_program, shell_base
from sandbox.errors import SandboxError
from sandbox.oci_image import ImageConfig, write_image
from sandbox.progress import Say

PROXY_IMAGE = "docker.io/library/haproxy:3.2.6-alpine"
_TOOLS = ("mv",)
_CONFIG = ImageConfig(
    entrypoint=("haproxy",), environment={"PATH": "/usr/local/bin:/usr/bin:/bin"}, user="99", stop_signal="SIGUSR1"
)


def proxy_image_build() -> Build:
    """A folder with the archive of the image; raises SandboxError where HAProxy is not installed."""
    program = shutil.which("haproxy")
    if program is None:
        raise SandboxError(
            "haproxy is not installed: apt-get install haproxy, or python -m sandbox preflight --install"
        )
    version = version_in(run([program, "-v"]))

    def make(work: Path, output: Path, say: Say) -> None:
        base, app = work / "base", work / "app"
        say("collecting the shell and its libraries")
        shell_base(base, more=_TOOLS, without=("curl",))
        (app / "bin").mkdir(parents=True, exist_ok=True)
        copy_program(Path(program), app / "bin" / "haproxy", libraries_to=base)
        write_image(output / ARCHIVE, names=[PROXY_IMAGE], roots=[base, app], config=_CONFIG)

    inputs = {"name": PROXY_IMAGE.encode(), "recipe": Path(__file__).read_bytes()}
    recipe = Recipe(name="proxy-image", version=version, inputs=inputs)
    return Build(recipe=recipe, title=f"Pack the image of the proxy, HAProxy {version}", make=make)


def version_in(said: str) -> str:
    """The version in what `haproxy -v` says."""
    found = re.match(r"HAProxy version (\S+)", said)
    if found is None:
        raise SandboxError(f"haproxy -v says {said[:100]!r}, which names no version")
    return found[1]
