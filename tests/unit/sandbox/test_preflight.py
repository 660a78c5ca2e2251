import pytest

from sandbox.preflight import BUILDING, RUNNING, findings, missing_packages
from tests.unit.sandbox.builders import a_machine

CAP_NET_ADMIN = 1 << 12


@pytest.mark.parametrize("building", [True, False])
def test_finds_nothing_on_a_ready_machine(*, building: bool) -> None:
    assert findings(a_machine(), building=building) == []


def test_names_only_the_system_where_it_is_not_linux() -> None:
    assert findings(a_machine(system="Darwin", user_id=501), building=False) == [
        "Darwin cannot run containers itself: use a Linux machine or virtual machine"
    ]


def test_says_how_to_become_root() -> None:
    (finding,) = findings(a_machine(user_id=1000), building=False)
    assert "not root" in finding
    assert "sudo" in finding


def test_building_needs_no_root() -> None:
    assert findings(a_machine(user_id=1000, capabilities=0), building=True) == []


def test_names_the_missing_right_of_a_root_in_a_container() -> None:
    (finding,) = findings(a_machine(capabilities=CAP_NET_ADMIN), building=False)
    assert "CAP_SYS_ADMIN" in finding
    assert "CAP_NET_ADMIN" not in finding
    assert "--privileged" in finding


def test_says_how_to_load_the_missing_kernel_module() -> None:
    (finding,) = findings(a_machine(filters_bridges=False), building=False)
    assert finding.endswith("modprobe br_netfilter")


@pytest.mark.parametrize(
    ("version", "finding"), [("", "no Go: "), ("go1.23.4", "go1.23.4 is too old for Kubernetes: ")]
)
def test_says_which_go_to_install(version: str, finding: str) -> None:
    assert findings(a_machine(go_version=version), building=True) == [
        f"{finding}install Go 1.24 or newer (https://go.dev/doc/install) and put its bin folder on PATH"
    ]


def test_running_needs_no_go() -> None:
    assert findings(a_machine(go_version=""), building=False) == []


def test_names_every_missing_package_and_the_command() -> None:
    machine = a_machine(has=lambda name: name not in ("runc", "/usr/lib/cni/bridge"))
    (finding,) = findings(machine, building=False)
    assert "apt-get install containernetworking-plugins runc" in finding
    assert "--install" in finding


def test_lists_a_package_once_even_when_two_steps_need_it() -> None:
    missing = missing_packages(a_machine(has=lambda _name: False), RUNNING | BUILDING)
    assert len(missing) == len(set(missing))
    assert {"curl", "containerd", "ninja-build"} <= set(missing)
