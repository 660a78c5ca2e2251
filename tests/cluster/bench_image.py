"""The image of `llmservice bench --in-cluster` for the tests."""

from pathlib import Path

from llmservice.bench.job import IMAGE
from tests.cluster.built_image import BuiltImage

_IMAGE = BuiltImage(
    name="bench-image",
    title="Build the image of the bench",
    dockerfile="images/bench/Dockerfile",
    reference=IMAGE,
    kept=1,
    layers_stay=False,  # 3 GB, as it has a copy for each layer; the generator's own stays for the next build
)


def bench_archive() -> Path:
    """The image as an OCI archive, 300 MB. Built when sources changed; downloads AIPerf and its packages."""
    return _IMAGE.archive()


if __name__ == "__main__":
    bench_archive()
