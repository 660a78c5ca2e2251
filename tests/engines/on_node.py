"""Putting the image of an engine onto the sandbox's node, once."""

from sandbox import Sandbox
from sandbox.cache import Build, cache_folder
from sandbox.engine_image import ARCHIVE
from sandbox.images import image_names
from sandbox.progress import Progress


def put_on_node(box: Sandbox, build: Build, image: str) -> None:
    """Build the archive of an image unless that was done, and import it unless the node has it."""
    archive = build.ensure(cache_folder(), Progress()) / ARCHIVE
    mark = box.spec.folder / f"{build.recipe.key}.imported"
    if image not in image_names(box.cell()) or not mark.exists():
        box.load_image(archive)
        mark.touch()
