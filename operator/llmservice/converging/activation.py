"""Services that may have no replica: which these are, the port of each at the activators, and who its endpoints are."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import condition_in
from llmservice.converging.events import ROUTINE
from llmservice.objects.endpoint_slices import FIRST_PORT, LAST_PORT, Activator, is_ours, port_of
from llmservice.objects.references import Manifest, controller_uid, uid_of

_PORTS = LAST_PORT - FIRST_PORT + 1
_NO_TROUBLE = ROUTINE | {Reason.ACTIVATOR_MISSING}
"""Why one is not ready without anything being wrong with its start."""


def trouble_in(body: Manifest) -> tuple[str, bool]:
    """Why no replica becomes ready, by the last status of this very generation, and whether no time helps.

    Empty while nothing is known, and while a start goes as starts go. Nothing is hopeless where what served before will
    come back: that answers those who wait. `Stalled` tells of a change that was taken back, too, and then nothing of
    the replicas that return: it has another message than `Ready`, or `Ready` is at a usual step.
    """
    status = body.get("status") or {}
    ready, stalled = (condition_in(status, kind) for kind in (ConditionType.READY, ConditionType.STALLED))
    reason = str(ready.get("reason") or "")
    known = status.get("observedGeneration") == body["metadata"].get("generation")
    if not known or ready.get("status") != "False" or reason in _NO_TROUBLE:
        return "", False
    is_told = stalled.get("status") == "True" and stalled.get("message") == ready.get("message")
    return reason, is_told and not _comes_back(body)


def _comes_back(body: Manifest) -> bool:
    """Whether another generation served, to which a failed one returns."""
    served = ((body.get("status") or {}).get("rollout") or {}).get("served") or {}
    holds = ((body.get("spec") or {}).get("rollout") or {}).get("onFailure") == "Hold"
    return bool(served) and served.get("generation") != body["metadata"].get("generation") and not holds


def may_sleep(body: Manifest) -> bool:
    """Whether a resource asks for zero replicas, now or at some time; by its spec, which may be refused."""
    return any(least == 0 for least in _least_replicas((body.get("spec") or {}).get("autoscaling") or {}))


def wants_activators(*, suspended: bool, ready: bool, sleeps: bool) -> bool:
    """Whether requests are to go to the activators: while no replica is ready, and before the last one goes."""
    return not suspended and (sleeps or not ready)


def choose_port(uid: str, slices: Iterable[Manifest], spared: Collection[int] = ()) -> int | None:
    """The port of the service with this UID: the one that its slice has, else one that no slice names.

    Of two slices that name one port the older has it, so that the other is given a new one. The search begins at a
    place that follows from the UID: one that was given back is seldom given out soon, and `spared` ones never. None
    when all are taken.
    """
    owned = [(number, each) for each in slices if is_ours(each) and (number := port_of(each)) is not None]
    for number, mine in owned:
        if controller_uid(mine) == uid and all(_age(mine) <= _age(other) for at, other in owned if at == number):
            return number
    taken = {number for number, each in owned if controller_uid(each) != uid}.union(spared)
    start = int.from_bytes(hashlib.blake2b(uid.encode(), digest_size=4).digest()) % _PORTS
    free = (FIRST_PORT + (start + step) % _PORTS for step in range(_PORTS))
    return next((port for port in free if port not in taken), None)


def address_type_of(activators: Iterable[Activator], live: Mapping[str, Any] | None) -> str | None:
    """The address type: that of the slice there is, which can never change, else the activators'; None without any."""
    if live is not None and live.get("addressType"):
        return str(live["addressType"])
    return next(("IPv6" if ":" in each.address else "IPv4" for each in sorted(activators)), None)


def of_type(activators: Iterable[Activator], address_type: str) -> tuple[Activator, ...]:
    """Those with an address of this type, in a fixed order."""
    return tuple(sorted(each for each in activators if (":" in each.address) == (address_type == "IPv6")))


def _least_replicas(autoscaling: Mapping[str, Any]) -> Iterator[Any]:
    yield autoscaling.get("minReplicas")
    for schedule in autoscaling.get("schedules") or ():
        yield schedule.get("minReplicas")


def _age(endpoint_slice: Manifest) -> tuple[str, str]:
    return str(endpoint_slice["metadata"].get("creationTimestamp", "")), uid_of(endpoint_slice)
