"""The node: containerd, kubelet and kube-proxy, with their configuration files.

Paths under /run and /var/lib are the cell's own, so the programs keep their usual ones.
"""

import json
from pathlib import Path

from sandbox.components import Component
from sandbox.files import write
from sandbox.settings import NODE, SandboxSpec

PAUSE_IMAGE = "sandbox.local/pause:1"
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
CNI_PLUGINS = "/usr/lib/cni"
CONTAINERD_METRICS = "127.0.0.1:1338"
CONTAINERD_CONFIG = """\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs",
]

[grpc]
  address = "{socket}"

[metrics]
  address = "{metrics}"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  # Without CAP_SYS_RESOURCE (containers, some virtual machines) runc cannot lower oom_score_adj and dies unexplained.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{cni}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{snapshotter}"
"""
# Names are not resolved in the sandbox: a lookup fails at once instead of waiting for a name server out of reach.
RESOLV_CONF = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"


def node(spec: SandboxSpec, programs: Path, pki: Path) -> list[Component]:
    """The components in starting order; writes their configuration files."""
    folder = spec.folder / "node"
    write(folder / "cni" / "sandbox.conflist", json.dumps(_cni(spec), indent=1))
    write(folder / "resolv.conf", RESOLV_CONF)
    containerd, kubelet, proxy = (folder / name for name in ("containerd.toml", "kubelet.json", "proxy.json"))
    write(containerd, _containerd(folder / "cni", _snapshotter(spec.folder)))
    write(kubelet, json.dumps(_kubelet(spec, pki, folder / "resolv.conf"), indent=1))
    write(proxy, json.dumps(_proxy(spec, pki), indent=1))
    return [
        Component(
            name="containerd",
            argv=("containerd", f"--config={containerd}"),
            health_url=f"http://{CONTAINERD_METRICS}/v1/metrics",
            files=(containerd,),
        ),
        Component(
            name="kubelet",
            argv=(
                str(programs / "kubelet"),
                f"--config={kubelet}",
                f"--kubeconfig={pki / 'kubelet.kubeconfig'}",
                f"--hostname-override={NODE}",
                f"--node-ip={spec.addresses.node}",
            ),
            health_url="http://127.0.0.1:10248/healthz",
            files=(kubelet,),
        ),
        Component(
            name="kube-proxy",
            argv=(str(programs / "kube-proxy"), f"--config={proxy}"),
            health_url="http://127.0.0.1:10256/healthz",
            files=(proxy,),
        ),
    ]


def _containerd(cni: Path, snapshotter: str) -> str:
    return CONTAINERD_CONFIG.format(
        socket=CONTAINERD_SOCKET,
        metrics=CONTAINERD_METRICS,
        pause=PAUSE_IMAGE,
        plugins=CNI_PLUGINS,
        cni=cni,
        snapshotter=snapshotter,
    )


def _snapshotter(folder: Path) -> str:
    return "native" if filesystem_of(folder, Path("/proc/mounts").read_text()) == "overlay" else "overlayfs"


def filesystem_of(path: Path, mounts: str) -> str:
    """The kind of filesystem that holds a path, from /proc/mounts: overlays do not stack, as in a container's root."""
    rows = [line.split() for line in mounts.splitlines()]
    holding = [(row[1], row[2]) for row in rows if path.is_relative_to(row[1])]
    return max(holding, key=lambda row: len(row[0]))[1]


def _cni(spec: SandboxSpec) -> dict[str, object]:
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": False,  # the host has a route to the pods and sees their own addresses
        "hairpinMode": True,  # a pod may reach itself through its Service
        "ipam": {
            "type": "host-local",
            "ranges": [[{"subnet": str(spec.addresses.pods)}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    port_mapping = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "0.4.0", "name": "sandbox", "plugins": [bridge, port_mapping]}


def _kubelet(spec: SandboxSpec, pki: Path, resolv_conf: Path) -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "x509": {"clientCAFile": str(pki / "ca.crt")},
            "webhook": {"enabled": True},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{spec.cgroup}",
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "resolvConf": str(resolv_conf),
        "volumePluginDir": "/var/lib/kubelet/volume-plugins",
        # A lookup is refused at once; without any address here kubelet warns about every pod.
        "clusterDNS": ["127.0.0.1"],
        "clusterDomain": "cluster.local",
        "failSwapOn": False,
        "failCgroupV1": False,  # newer kubelets refuse version 1 unless told
        "enforceNodeAllocatable": [],
        "evictionHard": {"memory.available": "100Mi"},
        "imageGCHighThresholdPercent": 100,  # nothing here could be pulled again
        "serializeImagePulls": False,
        "nodeStatusUpdateFrequency": "5s",
        "maxPods": 250,
        "kubeAPIQPS": 500,
        "kubeAPIBurst": 1000,
        "eventRecordQPS": 0,
        "registryPullQPS": 0,
        "shutdownGracePeriod": f"{spec.shutdown_seconds}s",
    }


def _proxy(spec: SandboxSpec, pki: Path) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": str(pki / "proxy.kubeconfig")},
        "mode": "iptables",
        "clusterCIDR": str(spec.addresses.pods),
        "hostnameOverride": NODE,
        "conntrack": {"maxPerCore": 0, "min": 0},  # a machine-wide setting: leave it alone
        "iptables": {"minSyncPeriod": "0s"},
    }
