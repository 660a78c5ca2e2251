"""What the operator's parts remember, by the UID of the resource: of one that is gone it is to be nothing."""

from collections.abc import Iterable, Iterator, Mapping

from tests.scenarios.late_world import LateWorld


def remembered(world: LateWorld) -> Iterator[tuple[str, str]]:
    """Who remembers something, and of which resource.

    Ports that were given back are left out: they are spared for ten minutes, so that no other service gets them.
    """
    for who, uids in {**_of_passes(world), **_of_loops(world)}.items():
        yield from ((who, uid) for uid in uids)


def _of_passes(world: LateWorld) -> Mapping[str, Iterable[str]]:
    by, routes = world.reconciler, world.reconciler.routing.children
    return {
        "repairs": [*by.children._repairs, *by.children._begun, *routes._repairs, *routes._begun],
        "statuses": [*by.status._written, *by.status._corrections],
        "rollouts": by.rollouts._decided,
        "failures": by.applying._failing_since,
        "looks": by.tending._looks,
        "devices": by.other_devices._freed,
        "notes": by.noting._noted,
        "adapters": by.adapters._replicas,
    }


def _of_loops(world: LateWorld) -> Mapping[str, Iterable[str]]:
    return {
        "covered": world.sleepers._covering._covered,
        "autoscaler": world.states._by_uid,
        "stalls": world.stalls.states,
        "accounts": [account.uid for account in world.accounts.by_key.values()],
        "loads": [load.service for load in world.autoscaler.truncations._loads.values()],
    }
