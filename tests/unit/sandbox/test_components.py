from pathlib import Path

import pytest

from sandbox.components import Component
from sandbox.control_plane import control_plane
from sandbox.node import node
from tests.unit.sandbox.builders import a_spec

PROGRAMS, PKI = Path("/programs"), Path("/pki")


def argv_of(name: str, components: list[Component]) -> tuple[str, ...]:
    return next(component.argv for component in components if component.name == name)


def test_the_api_server_reaches_kubelet_by_address() -> None:
    argv = argv_of("kube-apiserver", control_plane(a_spec(), PROGRAMS, PKI))
    assert "--kubelet-preferred-address-types=InternalIP" in argv


def test_the_controller_manager_is_not_throttled_like_production() -> None:
    argv = argv_of("kube-controller-manager", control_plane(a_spec(), PROGRAMS, PKI))
    assert {"--kube-api-qps=500", "--kube-api-burst=1000", "--leader-elect=false"} <= set(argv)


def test_there_is_no_audit_log_unless_asked_for() -> None:
    argv = argv_of("kube-apiserver", control_plane(a_spec(), PROGRAMS, PKI))
    assert not any(argument.startswith("--audit") for argument in argv)


def test_an_audit_log_comes_with_a_policy(tmp_path: Path) -> None:
    spec = a_spec(cache=tmp_path, audit_log=tmp_path / "audit.log")
    argv = argv_of("kube-apiserver", control_plane(spec, PROGRAMS, PKI))
    assert f"--audit-log-path={tmp_path / 'audit.log'}" in argv
    assert f"--audit-policy-file={spec.folder / 'audit-policy.yaml'}" in argv


def test_an_audit_log_changes_the_api_servers_digest(tmp_path: Path) -> None:
    plain = control_plane(a_spec(cache=tmp_path), PROGRAMS, PKI)
    audited = control_plane(a_spec(cache=tmp_path, audit_log=tmp_path / "audit.log"), PROGRAMS, PKI)
    changed = [one.name for one, other in zip(plain, audited, strict=True) if one.digest != other.digest]
    assert changed == ["kube-apiserver"]


@pytest.mark.parametrize("name", ["kubelet", "kube-proxy", "containerd"])
def test_a_changed_configuration_changes_the_digest(tmp_path: Path, name: str) -> None:
    component = next(one for one in node(a_spec(cache=tmp_path), PROGRAMS, PKI) if one.name == name)
    before = component.digest
    component.files[0].write_text("changed")
    assert component.digest != before


def test_configuration_that_says_the_same_is_not_touched(tmp_path: Path) -> None:
    spec = a_spec(cache=tmp_path)
    node(spec, PROGRAMS, PKI)
    before = {path: path.stat().st_ino for path in (spec.folder / "node").iterdir()}
    node(spec, PROGRAMS, PKI)
    assert {path: path.stat().st_ino for path in before} == before


def test_pods_of_two_sandboxes_live_below_different_cgroups(tmp_path: Path) -> None:
    configurations = []
    for name in ("default", "test"):
        spec = a_spec(name=name, cache=tmp_path)
        node(spec, PROGRAMS, PKI)
        configurations.append((spec.folder / "node" / "kubelet.json").read_text())
    assert '"cgroupRoot": "/llmservice-sandbox-default"' in configurations[0]
    assert '"cgroupRoot": "/llmservice-sandbox-test"' in configurations[1]
