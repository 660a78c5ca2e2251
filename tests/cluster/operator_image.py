"""The operator's image as the tests install it."""

from pathlib import Path

from llmservice import __version__
from tests.cluster.built_image import BuiltImage
from tools.release.names import OPERATOR, ROOT, names

IMAGE = names().image(OPERATOR, __version__)
"""As in manifests/base/deployment.yaml."""

_IMAGE = BuiltImage(
    name="operator-image",
    title="Build the operator's image",
    dockerfile="Dockerfile",
    reference=IMAGE,
    kept=4,
    layers_stay=True,
)

__all__ = ["IMAGE", "ROOT", "operator_archive"]


def operator_archive() -> Path:
    """The image as an OCI archive with compressed layers, as a registry would keep them. Built when sources changed."""
    return _IMAGE.archive()


if __name__ == "__main__":
    operator_archive()
