"""The link between the host and a sandbox: a veth pair, and one route on the host for all of its addresses.

Packets from the host to a pod or a Service enter the cell through the link; kube-proxy's rules there send those for a
Service on to a pod. There is no route out of the cell: pods reach each other and the host, nothing else.
"""

import json
import time
from ipaddress import IPv4Network
from pathlib import Path

from sandbox.cell import Cell
from sandbox.commands import run
from sandbox.errors import SandboxError
from sandbox.settings import SandboxSpec

NODE_INTERFACE = "uplink"
# Reset by the kernel in every new network namespace. Bridged packets must pass iptables, or answers of a Service keep
# the pod's address; the module br_netfilter provides that switch.
KERNEL_SETTINGS = {"net/ipv4/ip_forward": "1", "net/bridge/bridge-nf-call-iptables": "1"}


def connect(spec: SandboxSpec, cell: Cell) -> None:
    """Make or complete the link; SandboxError when another sandbox or network has these addresses."""
    if not is_connected(spec, cell):
        disconnect(spec)
        refuse_overlap(spec, json.loads(run(["ip", "-json", "route", "show"])))
        addresses, host = spec.addresses, spec.host_interface
        peer = ["peer", "name", NODE_INTERFACE, "netns", str(cell.init.pid)]
        run(["ip", "link", "add", host, "type", "veth", *peer])
        run(["ip", "link", "set", host, "alias", f"llmservice sandbox {spec.name}"])
        run(["ip", "address", "add", f"{addresses.host}/30", "dev", host])
        run(["ip", "link", "set", host, "up"])
        run(cell.command("ip", "address", "add", f"{addresses.node}/30", "dev", NODE_INTERFACE))
        for interface in ("lo", NODE_INTERFACE):
            run(cell.command("ip", "link", "set", interface, "up"))
        run(["ip", "route", "add", str(addresses.all), "via", str(addresses.node), "dev", host])
    for name, value in KERNEL_SETTINGS.items():
        run(cell.command("sh", "-c", f"[ ! -e /proc/sys/{name} ] || echo {value} > /proc/sys/{name}"))


def is_connected(spec: SandboxSpec, cell: Cell) -> bool:
    """Whether the route, which is made last, leads to this cell."""
    routes = json.loads(run(["ip", "-json", "route", "show", str(spec.addresses.all)]))
    if not routes or routes[0].get("dev") != spec.host_interface:
        return False
    inside = json.loads(run(cell.command("ip", "-json", "link", "show")))
    return any(link["ifname"] == NODE_INTERFACE for link in inside)


def disconnect(spec: SandboxSpec) -> None:
    """Remove the host's end, and its route with it; fine when there is none."""
    if not (link := Path("/sys/class/net", spec.host_interface)).exists():
        return
    owner = (link / "ifalias").read_text().strip().removeprefix("llmservice sandbox ")
    if owner not in ("", spec.name):
        raise SandboxError(f"sandboxes {owner!r} and {spec.name!r} hash to the same addresses: use another --name")
    run(["ip", "link", "delete", spec.host_interface])
    while link.exists():
        time.sleep(0.02)


def refuse_overlap(spec: SandboxSpec, routes: list[dict[str, str]]) -> None:
    """Raise when a network of the host lies within the sandbox's addresses."""
    wanted = spec.addresses.all
    for route in routes:
        if route["dst"] != "default" and IPv4Network(route["dst"]).subnet_of(wanted):
            way = f"{route['dst']} dev {route.get('dev', 'none')}"
            raise SandboxError(f"{wanted} is in use here ({way}): use another --name")
