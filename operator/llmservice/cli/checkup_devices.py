"""Devices as `llmservice doctor` tells of them: by type, how many there are, and how many are free."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from llmservice.catalog.catalogue import Catalogue
from llmservice.cli.checkup import Finding, Grade, Hidden
from llmservice.cli.plural import counted
from llmservice.converging.free_devices import DeviceNode
from llmservice.objects.node_fit import admits


def of_devices(
    nodes: Iterable[DeviceNode] | Hidden, taken: Mapping[str, Counter[str]], catalogue: Catalogue
) -> Iterator[Finding]:
    """A finding for each type of device; `taken` counts devices by node and resource."""
    if isinstance(nodes, Hidden):
        yield Finding(about="devices", grade=Grade.UNKNOWN, message=nodes.why)
        return
    groups: dict[tuple[str, str], list[DeviceNode]] = {}
    for node in nodes:
        for resource in node.devices:
            groups.setdefault((resource, _type_of(node, resource, catalogue)), []).append(node)
    if not groups:
        message = "no node has devices: engines run on CPUs only; with GPUs in the nodes, install their device plugin"
        yield Finding(about="devices", grade=Grade.LOOK, message=message)
    for (resource, name), members in sorted(groups.items()):
        yield _of_group(resource, name, members, taken)


def _type_of(node: DeviceNode, resource: str, catalogue: Catalogue) -> str:
    """The type whose labels the node has; empty for none."""
    for name, row in catalogue.accelerators.items():
        terms = [each.term for each in (*row.node_terms, *row.shared_terms)]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        if row.resource_name == resource and terms:
            affinity = {"affinity": {"nodeAffinity": required}}
            if admits(node.labels, node.name, (), affinity):
                return name
    return ""


def _of_group(resource: str, name: str, nodes: list[DeviceNode], taken: Mapping[str, Counter[str]]) -> Finding:
    total = sum(node.devices[resource] for node in nodes)
    free = sum(
        max(0, node.devices[resource] - taken.get(node.name, Counter())[resource]) for node in nodes if node.is_open
    )
    closed = [node.name for node in nodes if not node.is_open]
    told = f"{total} {name or resource} on {counted(len(nodes), 'node')}, {free} free"
    if closed:
        message = f"{told}; {counted(len(closed), 'node')} not ready or cordoned, such as {closed[0]}"
        return Finding(about="devices", grade=Grade.LOOK, message=message)
    if not name:
        message = f"{told}: no label says of what type; name it by spec.gpu.resourceName, or label the nodes (see docs)"
        return Finding(about="devices", grade=Grade.LOOK, message=message)
    return Finding(about="devices", grade=Grade.OK, message=told)
