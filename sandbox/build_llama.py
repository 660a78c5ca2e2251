"""The real `llama-server` of llama.cpp for CPUs, compiled from the source inside the llama-cpp-python distribution.

That source carries no build number. llama-cpp-python 0.3.36 vendors commit 0c1e57098 (its CHANGELOG.md), which upstream
released as b11312 on 2026-10-01; upstream's images of it are tagged `server-b11312`, `server-cuda-b11312`, and so on.
"""

import shutil
import sys
import tarfile
from pathlib import Path

from sandbox.cache import Build, Recipe
from sandbox.commands import follow, run
from sandbox.progress import Say

PACKAGE_VERSION = "0.3.36"
PACKAGE_SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
BUILD_NUMBER = 11312
COMMIT = "0c1e57098"
OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",  # a quarter less time to compile; the inner loops are in C and keep -O3
    "-DBUILD_SHARED_LIBS=OFF",
    "-DGGML_NATIVE=OFF",  # the cache may move to another machine
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_TOOLS=ON",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_OPENSSL=OFF",
    f"-DLLAMA_BUILD_NUMBER={BUILD_NUMBER}",
    f"-DLLAMA_BUILD_COMMIT={COMMIT}",
)


def llama_build() -> Build:
    """A folder with the one program `llama-server`. About four minutes on two cores."""
    inputs = {"source": PACKAGE_SHA256.encode(), "options": repr(OPTIONS).encode()}
    recipe = Recipe(name="llama.cpp", version=f"b{BUILD_NUMBER}", inputs=inputs)
    return Build(recipe=recipe, title=f"Build llama.cpp b{BUILD_NUMBER}", make=_make)


def _make(work: Path, output: Path, say: Say) -> None:
    source, build = llama_source(work, say), work / "build"
    follow(["cmake", "-S", source, "-B", build, "-G", "Ninja", *OPTIONS], say)
    follow(["cmake", "--build", build, "--target", "llama-server"], say)  # resumes where a crash left it
    shutil.copy2(build / "bin" / "llama-server", output)
    run(["strip", output / "llama-server"])


def llama_source(work: Path, say: Say) -> Path:
    """The folder of llama.cpp's source, below `work`, downloaded unless it is there."""
    work.mkdir(parents=True, exist_ok=True)
    source = work / "source"
    if not source.exists():
        say("downloading the source")
        archive, partial = _download(work), work / "source.partial"
        shutil.rmtree(partial, ignore_errors=True)
        with tarfile.open(archive) as tar:
            tar.extractall(partial, filter="data")
        partial.replace(source)
    return source / f"llama_cpp_python-{PACKAGE_VERSION}" / "vendor" / "llama.cpp"


def _download(work: Path) -> Path:
    requirement = work / "requirement.txt"
    requirement.write_text(f"llama-cpp-python=={PACKAGE_VERSION} --hash=sha256:{PACKAGE_SHA256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--no-deps", "--no-binary", ":all:", "--require-hashes", "-d", work, "-r", requirement])
    return work / f"llama_cpp_python-{PACKAGE_VERSION}.tar.gz"
