import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from sandbox.oci_image import ImageConfig, write_image

CONFIG = ImageConfig(entrypoint=("/app/server",), environment={"PATH": "/bin"}, working_directory="/app")
NAMES = ["example.test/server:1", "example.test/server:1-cuda"]


@pytest.fixture
def roots(tmp_path: Path) -> list[Path]:
    base, app = tmp_path / "base", tmp_path / "app"
    (base / "bin").mkdir(parents=True)
    (base / "bin/sh").write_text("shell")
    (base / "bin/sh").chmod(0o755)
    (base / "bin/ash").symlink_to("sh")
    (app / "app").mkdir(parents=True)
    (app / "app/server").write_text("serves")
    return [base, app]


@pytest.fixture
def files(tmp_path: Path, roots: list[Path]) -> dict[str, bytes]:
    write_image(tmp_path / "image.tar", names=NAMES, roots=roots, config=CONFIG)
    return contents(tmp_path / "image.tar")


def contents(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}  # type: ignore[union-attr]


def entries(layer: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        return {entry.name: entry for entry in tar}


def blob(files: dict[str, bytes], descriptor: dict[str, Any]) -> bytes:
    return files["blobs/" + descriptor["digest"].replace(":", "/")]


def manifest(files: dict[str, bytes]) -> dict[str, Any]:
    index = json.loads(files["index.json"])
    return dict(json.loads(blob(files, index["manifests"][0])))


def test_every_blob_is_named_by_its_digest(files: dict[str, bytes]) -> None:
    blobs = {name.rpartition("/")[2]: content for name, content in files.items() if name.startswith("blobs/")}
    assert {name: hashlib.sha256(content).hexdigest() for name, content in blobs.items()} == {n: n for n in blobs}


def test_descriptors_tell_the_size(files: dict[str, bytes]) -> None:
    described = [manifest(files)["config"], *manifest(files)["layers"]]
    assert [descriptor["size"] for descriptor in described] == [len(blob(files, one)) for one in described]


def test_each_folder_is_a_layer_in_order(files: dict[str, bytes]) -> None:
    layers = [entries(blob(files, one)) for one in manifest(files)["layers"]]
    assert [list(layer) for layer in layers] == [["bin", "bin/ash", "bin/sh"], ["app", "app/server"]]


def test_links_and_modes_survive(files: dict[str, bytes]) -> None:
    layer = entries(blob(files, manifest(files)["layers"][0]))
    assert layer["bin/ash"].linkname == "sh"
    assert layer["bin/sh"].mode == 0o755


def test_everything_belongs_to_root(files: dict[str, bytes]) -> None:
    layer = entries(blob(files, manifest(files)["layers"][0]))
    assert {(entry.uid, entry.gid, entry.uname) for entry in layer.values()} == {(0, 0, "")}


def test_the_config_lists_the_layers_and_how_to_start(files: dict[str, bytes]) -> None:
    config = json.loads(blob(files, manifest(files)["config"]))
    assert config["config"]["Entrypoint"] == ["/app/server"]
    assert config["config"]["Env"] == ["PATH=/bin"]
    assert config["rootfs"]["diff_ids"] == [layer["digest"] for layer in manifest(files)["layers"]]


def test_one_image_may_have_several_names(files: dict[str, bytes]) -> None:
    entries = json.loads(files["index.json"])["manifests"]
    assert [entry["annotations"]["io.containerd.image.name"] for entry in entries] == NAMES
    assert len({entry["digest"] for entry in entries}) == 1


def test_the_same_folders_make_the_same_bytes(tmp_path: Path, roots: list[Path]) -> None:
    write_image(tmp_path / "one.tar", names=NAMES, roots=roots, config=CONFIG)
    (roots[0] / "bin/sh").touch()
    write_image(tmp_path / "other.tar", names=NAMES, roots=roots, config=CONFIG)
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "other.tar").read_bytes()
