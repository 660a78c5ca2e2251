"""etcd, API server, controller manager and scheduler: command lines only."""

from pathlib import Path

from sandbox.components import Component
from sandbox.files import write
from sandbox.settings import SandboxSpec

AUDIT_POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"
ETCD = "http://127.0.0.1:2379"


def control_plane(spec: SandboxSpec, programs: Path, pki: Path) -> list[Component]:
    """The components in starting order; writes the audit policy when there is an audit log."""
    return [
        _etcd(spec, programs),
        _api_server(spec, programs, pki),
        _controller_manager(programs, pki),
        _scheduler(programs, pki),
    ]


def _etcd(spec: SandboxSpec, programs: Path) -> Component:
    flags = {
        "data-dir": spec.folder / "etcd",
        "listen-client-urls": ETCD,
        "advertise-client-urls": ETCD,
        "listen-peer-urls": "http://127.0.0.1:2380",
        "initial-advertise-peer-urls": "http://127.0.0.1:2380",
        "initial-cluster": "default=http://127.0.0.1:2380",
        "unsafe-no-fsync": "true",  # a test cluster may lose data with the machine's power
        "log-level": "warn",
    }
    return Component(name="etcd", argv=_argv(programs / "etcd", flags), health_url=f"{ETCD}/health")


def _api_server(spec: SandboxSpec, programs: Path, pki: Path) -> Component:
    flags = {
        "etcd-servers": ETCD,
        "secure-port": 6443,
        "advertise-address": spec.addresses.node,
        "tls-cert-file": pki / "server.crt",
        "tls-private-key-file": pki / "server.key",
        "client-ca-file": pki / "ca.crt",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": pki / "service-accounts.pub",
        "service-account-signing-key-file": pki / "service-accounts.key",
        "service-cluster-ip-range": spec.addresses.services,
        "authorization-mode": "Node,RBAC",
        "enable-admission-plugins": "NodeRestriction",
        "kubelet-client-certificate": pki / "admin.crt",
        "kubelet-client-key": pki / "admin.key",
        "kubelet-preferred-address-types": "InternalIP",  # nothing here resolves the node's name
        "allow-privileged": "true",
        "endpoint-reconciler-type": "lease",
    }
    files: tuple[Path, ...] = ()
    if spec.audit_log:
        policy = spec.folder / "audit-policy.yaml"
        write(policy, AUDIT_POLICY)
        files = (policy,)
        flags |= {"audit-policy-file": policy, "audit-log-path": spec.audit_log.absolute()}
    argv = _argv(programs / "kube-apiserver", flags)
    return Component(name="kube-apiserver", argv=argv, health_url="https://127.0.0.1:6443/readyz", files=files)


def _controller_manager(programs: Path, pki: Path) -> Component:
    flags = {
        "kubeconfig": pki / "controller-manager.kubeconfig",
        "use-service-account-credentials": "true",
        "service-account-private-key-file": pki / "service-accounts.key",
        "root-ca-file": pki / "ca.crt",
        "leader-elect": "false",
        "kube-api-qps": 500,  # the default of 20 would hide an operator's own speed
        "kube-api-burst": 1000,
        "terminated-pod-gc-threshold": 100,
        "pvclaimbinder-sync-period": "1s",  # a claim made beside its volume may bind only at the next look: 15 s
        "bind-address": "127.0.0.1",
    }
    argv = _argv(programs / "kube-controller-manager", flags)
    return Component(name="kube-controller-manager", argv=argv, health_url="https://127.0.0.1:10257/healthz")


def _scheduler(programs: Path, pki: Path) -> Component:
    flags = {
        "kubeconfig": pki / "scheduler.kubeconfig",
        "leader-elect": "false",
        "kube-api-qps": 500,
        "kube-api-burst": 1000,
        "bind-address": "127.0.0.1",
    }
    argv = _argv(programs / "kube-scheduler", flags)
    return Component(name="kube-scheduler", argv=argv, health_url="https://127.0.0.1:10259/healthz")


def _argv(program: Path, flags: dict[str, object]) -> tuple[str, ...]:
    return (str(program), *(f"--{name}={value}" for name, value in flags.items()))
