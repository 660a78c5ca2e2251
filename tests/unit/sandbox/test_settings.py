from itertools import combinations
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.settings import INDEX_OF_KNOWN_NAMES, INDEXES, Addresses
from tests.unit.sandbox.builders import a_spec


def test_pods_services_and_link_share_no_address() -> None:
    addresses = Addresses(index=5)
    parts = (addresses.pods, addresses.services, addresses.link)
    assert not any(one.overlaps(other) for one, other in combinations(parts, 2))
    assert all(part.subnet_of(addresses.all) for part in parts)


def test_sandboxes_of_the_known_names_share_no_address() -> None:
    networks = [a_spec(name=name).addresses.all for name in INDEX_OF_KNOWN_NAMES]
    assert not any(one.overlaps(other) for one, other in combinations(networks, 2))


def test_no_other_name_gets_the_addresses_of_a_known_one() -> None:
    others = {a_spec(name=f"mine-{number}").index for number in range(500)}
    assert others.isdisjoint(INDEX_OF_KNOWN_NAMES.values())


def test_every_index_is_a_private_network() -> None:
    assert all(Addresses(index=index).all.is_private for index in range(INDEXES))


def test_a_name_keeps_its_addresses() -> None:
    assert str(a_spec(name="default").addresses.host) == "10.64.255.1"
    assert a_spec(name="elsewhere").addresses == a_spec(name="elsewhere").addresses


def test_the_server_is_the_node_as_the_host_sees_it() -> None:
    assert a_spec(name="test").server == "https://10.65.255.2:6443"


def test_interface_names_fit_the_kernel() -> None:
    names = [a_spec(name=f"mine-{number}").host_interface for number in range(500)]
    assert max(map(len, names)) <= 15


def test_two_sandboxes_share_no_folder_interface_or_cgroup() -> None:
    one, other = a_spec(name="default"), a_spec(name="test")
    assert one.folder != other.folder
    assert one.host_interface != other.host_interface
    assert one.cgroup != other.cgroup


@pytest.mark.parametrize("name", ["", "Test", "1st", "a/b", "..", "ends-", "x" * 21])
def test_refuses_a_name_that_is_no_folder_or_host_name(name: str) -> None:
    with pytest.raises(SandboxError, match="--name"):
        a_spec(name=name)


def test_refuses_fewer_than_no_gpus() -> None:
    with pytest.raises(SandboxError, match="--gpus -1: use 0 or more"):
        a_spec(gpus=-1)


@pytest.mark.parametrize("folder", ["/var/lib/cache", "/run/cache", "/var/log"])
def test_refuses_a_cache_that_the_sandbox_could_not_see(folder: str) -> None:
    with pytest.raises(SandboxError, match=r"LLMSERVICE_CACHE .* move it"):
        a_spec(cache=Path(folder))


def test_refuses_an_audit_log_that_the_host_could_not_see() -> None:
    with pytest.raises(SandboxError, match=r"--audit-log .* move it"):
        a_spec(audit_log=Path("/var/log/audit.log"))
