"""Devices in Kubernetes' objects: what a pod takes of its node, and what a node has.

A device is an extended resource: any name with a domain that is not Kubernetes' own, such as nvidia.com/gpu, or
nvidia.com/mig-1g.10gb, which is a resource of its own.
"""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

Devices = Mapping[str, int]
"""Resource name → how many."""

_MOST = 10**6
"""More than any node has: numbers of strangers stay small."""
_LONGEST = 20


def devices_in(amounts: Any) -> Counter[str]:
    """The extended resources in a map of quantities; what is no whole number counts as none."""
    found = amounts.items() if isinstance(amounts, Mapping) else ()
    return Counter({name: count for name, text in found if _is_device(name) and (count := _whole(text))})


def devices_of(pod_spec: Mapping[str, Any]) -> Counter[str]:
    """What the scheduler sets aside for a pod: the sum of its containers or its most demanding moment before.

    Init containers run one after the other; those that restart always (sidecars) stay beside all that come later. The
    overhead of a RuntimeClass comes on top (kubernetes/component-helpers, resource/helpers.go, PodRequests).
    """
    staying: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for container in pod_spec.get("initContainers") or ():
        asked = _of_container(container)
        if container.get("restartPolicy") == "Always":
            staying += asked
            most |= staying
        else:
            most |= staying + asked
    running = sum(map(_of_container, pod_spec.get("containers") or ()), Counter[str]())
    return (most | (staying + running)) + devices_in(pod_spec.get("overhead"))


def _of_container(container: Mapping[str, Any]) -> Counter[str]:
    """Requests; a limit is a request where there is none, and of extended resources both are equal."""
    resources = container.get("resources") or {}
    return devices_in(resources.get("limits")) | devices_in(resources.get("requests"))


def _is_device(name: object) -> bool:
    domain, slash, _ = name.partition("/") if isinstance(name, str) else ("", "", "")
    return bool(slash) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")


def _whole(quantity: object) -> int:
    text = str(quantity)
    try:
        amount = Decimal(text if len(text) <= _LONGEST else "")
    except InvalidOperation:
        return 0
    return int(min(max(amount, Decimal(0)), Decimal(_MOST))) if amount.is_finite() else 0
