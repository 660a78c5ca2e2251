"""The image of the played vLLM (`played_vllm/`), and services that run it on GPUs that the sandbox pretends to have."""

import shutil
from pathlib import Path
from typing import Any

from sandbox.build_kubernetes import ENVIRONMENT
from sandbox.cache import Build, Recipe
from sandbox.commands import run
from sandbox.engine_image import ARCHIVE, shell_base
from sandbox.oci_image import ImageConfig, write_image
from sandbox.progress import Say
from tests.cluster.kube import Body

IMAGE = "sandbox.local/played-vllm:1"
_PLAYED_VERSION = "0.33.0"
_SOURCE = Path(__file__).parent / "played_vllm"


def played_image() -> Build:
    """A folder with the archive of the image."""

    def make(work: Path, output: Path, say: Say) -> None:
        base, app = work / "base", work / "app"
        say("compiling the played engine")
        (app / "usr" / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copytree(_SOURCE, work / "source", dirs_exist_ok=True)
        program = ["go", "build", "-o", str(app / "usr" / "bin" / "vllm"), "."]
        run(program, cwd=work / "source", environment=ENVIRONMENT)
        shell_base(base)
        config = ImageConfig(entrypoint=("vllm", "serve"), environment={"PATH": "/usr/bin:/bin"})
        write_image(output / ARCHIVE, names=[IMAGE], roots=[base, app], config=config)

    inputs = {path.name: path.read_bytes() for path in sorted(_SOURCE.iterdir())}
    inputs["recipe"] = Path(__file__).read_bytes()
    return Build(recipe=Recipe(name="played-vllm", version="1", inputs=inputs), title="Pack the played vLLM", make=make)


def a_group(name: str = "chat", nodes: int | None = 2, **spec: Any) -> Body:
    """A service whose replicas have a GPU on each of two nodes; here both are the one of the sandbox."""
    fields = {
        "engine": "vllm",
        "model": {"uri": "hf://acme/played", "inspect": "Never"},
        "gpu": {"type": "L4", "count": 1, "verify": False, **({} if nodes is None else {"nodes": nodes})},
        "maxModelLen": 512,
        "maxNumSeqs": 8,
        "drain": {"timeoutSeconds": 20},
        "engineOptions": {"image": IMAGE, "version": _PLAYED_VERSION},
        "pod": {"resources": {"requests": {"cpu": "10m", "memory": "32Mi"}}},
        **spec,
    }
    return {
        "apiVersion": "llmservice.dev/v1alpha1",
        "kind": "LLMService",
        "metadata": {"name": name},
        "spec": fields,
    }
