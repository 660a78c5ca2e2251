"""What a sandbox takes from the host: addresses, cgroups, a filesystem, libraries."""

from pathlib import Path

import pytest

from sandbox import cgroups
from sandbox.engine_image import shared_libraries
from sandbox.errors import SandboxError
from sandbox.images import imported_names
from sandbox.network import refuse_overlap
from sandbox.node import filesystem_of
from tests.unit.sandbox.builders import a_spec


def a_route(destination: str) -> dict[str, str]:
    return {"dst": destination, "dev": "eth7"}


@pytest.mark.parametrize("destination", ["10.64.0.0/16", "10.64.3.0/24", "10.64.255.1"])
def test_refuses_addresses_that_a_network_of_the_host_has(destination: str) -> None:
    with pytest.raises(SandboxError, match=r"10\.64\.0\.0/16 is in use here .*eth7.*use another --name"):
        refuse_overlap(a_spec(), [a_route("default"), a_route(destination)])


@pytest.mark.parametrize("destination", ["default", "10.0.0.0/8", "10.65.0.0/16", "192.168.0.0/24"])
def test_accepts_wider_and_other_networks_of_the_host(destination: str) -> None:
    refuse_overlap(a_spec(), [a_route(destination)])


def test_version_1_has_a_tree_per_controller(tmp_path: Path) -> None:
    for controller in ("cpu", "memory"):
        (tmp_path / controller).mkdir()
        (tmp_path / controller / "cgroup.procs").touch()
    (tmp_path / "cpu,cpuacct").symlink_to("cpu")
    cgroups.create("box", tmp_path)
    assert [path.name for path in tmp_path.glob("*/box")] == ["box", "box", "box"]
    assert cgroups.hierarchies(tmp_path) == [tmp_path / "cpu", tmp_path / "memory"]


def test_version_2_has_one_tree_and_is_told_the_controllers(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    (tmp_path / "cgroup.subtree_control").touch()
    cgroups.create("box", tmp_path)
    assert (tmp_path / "box").is_dir()
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu +cpuset +memory +pids"


def test_removes_the_cgroup_with_all_below_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    (tmp_path / "box/kubepods/burstable/pod1").mkdir(parents=True)
    (tmp_path / "box-2/kubepods").mkdir(parents=True)
    cgroups.remove("box", tmp_path)
    cgroups.remove("box", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["box-2", "cgroup.controllers"]


def test_the_deepest_mount_holds_a_path() -> None:
    mounts = "overlay / overlay rw 0 0\n/dev/sda1 /srv ext4 rw 0 0\ntmpfs /srv/x tmpfs rw 0 0\n"
    assert filesystem_of(Path("/srv/cache"), mounts) == "ext4"
    assert filesystem_of(Path("/home/me"), mounts) == "overlay"


def test_reads_libraries_and_loader_from_ldd() -> None:
    ldd = "\tlinux-vdso.so.1 (0x7f)\n\tlibm.so.6 => /lib/libm.so.6 (0x7e)\n\t/lib64/ld-linux-x86-64.so.2 (0x7d)\n"
    assert shared_libraries(ldd) == [Path("/lib/libm.so.6"), Path("/lib64/ld-linux-x86-64.so.2")]


def test_reads_the_imported_names_from_ctr() -> None:
    said = "unpacking ghcr.io/a/b:1 (sha256:12)...done\nunpacking docker.io/library/c:2 (sha256:34)...done\n"
    assert imported_names(said) == ["docker.io/library/c:2", "ghcr.io/a/b:1"]
