"""The files of a release: names, digests, and archives that are the same bytes each time."""

import gzip
import os
import tarfile
from pathlib import Path

import pytest

from tools.release.files import Target, pack, plugin_archive, plugin_target, sha256, sums

EPOCH = 1_700_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "b").mkdir(parents=True)
    (root / "b" / "program").write_text("#!/bin/sh\n")
    (root / "b" / "program").chmod(0o700)
    (root / "a").write_text("text")
    (root / "a").chmod(0o600)
    (root / "link").symlink_to("a")
    return root


@pytest.mark.parametrize("name", ["x.tar", "x.tar.gz", "x.tgz"])
def test_the_same_content_gives_the_same_bytes_whenever_and_by_whoever(folder: Path, tmp_path: Path, name: str) -> None:
    first, again = tmp_path / name, tmp_path / "again" / name
    again.parent.mkdir()
    pack(first, folder, folder.rglob("*"), EPOCH)
    for path in folder.rglob("*"):
        os.utime(path, (1, 1), follow_symlinks=False)
    (folder / "a").chmod(0o644)
    pack(again, folder, reversed(list(folder.rglob("*"))), EPOCH)
    assert first.read_bytes() == again.read_bytes()


def test_members_are_roots_dated_and_runnable_where_they_were(folder: Path, tmp_path: Path) -> None:
    pack(tmp_path / "x.tar.gz", folder, folder.rglob("*"), EPOCH)
    with tarfile.open(tmp_path / "x.tar.gz") as tar:
        found = [(member.name, oct(member.mode), member.uid, member.uname, member.mtime) for member in tar]
    modes = [("a", "0o644"), ("b", "0o755"), ("b/program", "0o755"), ("link", "0o755")]
    assert found == [(name, mode, 0, "", EPOCH) for name, mode in modes]
    assert gzip.decompress((tmp_path / "x.tar.gz").read_bytes())[:1] == b"a"


def test_sums_are_what_sha256sum_checks(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert sha256(tmp_path / "empty") == digest
    assert sums({"b": "2", "a": "1"}) == "1  a\n2  b\n"


@pytest.mark.parametrize("target", [Target(os="linux", arch="amd64"), Target(os="darwin", arch="arm64")])
def test_an_archive_of_the_plugin_says_its_platform(target: Target) -> None:
    assert plugin_target(plugin_archive("0.1.0", target), "0.1.0") == target


@pytest.mark.parametrize(
    "name", ["kubectl-llm_v0.2.0_linux_amd64.tar.gz", "kubectl-llm_v0.1.0_linux.tar.gz", "llm.yaml"]
)
def test_any_other_file_has_none(name: str) -> None:
    assert plugin_target(name, "0.1.0") is None
