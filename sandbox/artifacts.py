"""Everything a sandbox needs that is built."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sandbox.build_kubernetes import kubernetes_build
from sandbox.build_llama import llama_build
from sandbox.engine_image import ARCHIVE, ENGINE_IMAGES, engine_image_build, pause_image_build
from sandbox.node import PAUSE_IMAGE
from sandbox.progress import Progress
from sandbox.tiny_model import tiny_model_build


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """Where the finished parts lie. `images` maps archives to the names in them, `models` is a folder of files."""

    programs: Path
    images: Mapping[Path, frozenset[str]]
    models: Path


def ensure_artifacts(cache: Path, progress: Progress, engine_images: tuple[str, ...] = ENGINE_IMAGES) -> Artifacts:
    """Build what is missing. Kubernetes and the engine side by side: while one downloads or links, the other compiles.

    When one fails, the other is finished first: what it made is kept.
    """

    def engine() -> Path:
        server = llama_build().ensure(cache, progress)
        return engine_image_build(server, engine_images).ensure(cache, progress)

    with ThreadPoolExecutor(max_workers=2) as pool:
        kubernetes, engine_image = pool.submit(kubernetes_build().ensure, cache, progress), pool.submit(engine)
    programs = kubernetes.result()
    pause = pause_image_build(programs).ensure(cache, progress)
    models = tiny_model_build().ensure(cache, progress)
    images = {pause / ARCHIVE: frozenset([PAUSE_IMAGE]), engine_image.result() / ARCHIVE: frozenset(engine_images)}
    return Artifacts(programs=programs, images=images, models=models)


def is_complete(cache: Path) -> bool:
    """Whether nothing would have to be built, so that no compiler is needed."""
    programs, server = kubernetes_build(), llama_build()
    images = pause_image_build(programs.folder(cache)), engine_image_build(server.folder(cache))
    return all(build.folder(cache).exists() for build in (programs, server, *images, tiny_model_build()))
