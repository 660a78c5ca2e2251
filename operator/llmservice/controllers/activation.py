"""What holds requests for services without a replica: its parts put together, where an administrator installed one."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.own_namespace import own_namespace
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection
from llmservice.objects.names import ACTIVATOR_LABELS
from llmservice.reconcilers.activation.activators import Activators, Control, FixedActivators, PodActivators
from llmservice.reconcilers.activation.held_requests import HeldRequests
from llmservice.reconcilers.activation.polling import Polling
from llmservice.reconcilers.activation.sleepers import Sleepers
from llmservice.reconcilers.scaling.autoscaler import Autoscaler
from llmservice.reconcilers.scaling.resting import Resting
from llmservice.reconcilers.workers import ServiceKey
from llmservice.settings import Settings
from llmservice.settings.activators import ON, host_and_port

SLICES = "EndpointSlice"
"""The kind that is watched where there is an activator, and nowhere else: no right is needed that is not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """`informer` watches the activator's pods, None for processes at fixed addresses."""

    informer: Informer | None
    polling: Polling
    sleepers: Sleepers


def slice_kinds(settings: Settings) -> tuple[str, ...]:
    """The kinds beside the children of a plan."""
    return (SLICES,) if settings.activator else ()


def an_activation(
    settings: Settings,
    connection: Connection,
    cache: ObjectCache,
    autoscaler: Autoscaler,
    changed: Callable[[ServiceKey], None],
) -> Activation | None:
    """The parts, connected to the autoscaler; None where there is no activator."""
    if not settings.activator:
        return None
    informer, activators = _activators(settings, connection)
    held = HeldRequests()
    sleepers = Sleepers(
        cache=cache,
        activators=activators,
        states=autoscaler.services.states,
        held=held,
        hurry=autoscaler.hurry,
        changed=changed,
    )
    polling = Polling(activators=activators, held=held, wanted=sleepers.any)
    autoscaler.scaler.resting = Resting(door=sleepers, later=_later, hurry=autoscaler.hurry)
    return Activation(informer=informer, polling=polling, sleepers=sleepers)


def _activators(settings: Settings, connection: Connection) -> tuple[Informer | None, Activators]:
    if settings.activator != (ON,):
        return None, FixedActivators(frozenset(Control(*host_and_port(each)) for each in settings.activator))
    pods = ObjectCache()  # of their own: a list of one selection replaces all that is cached of its kind
    selector = ",".join(f"{name}={value}" for name, value in sorted(ACTIVATOR_LABELS.items()))
    selection = Selection(kind="Pod", namespace=own_namespace(), label_selector=selector)
    return Informer(connection=connection, cache=pods, selection=selection), PodActivators(pods)


def _later(seconds: float, function: Callable[[], None]) -> object:
    return asyncio.get_running_loop().call_later(seconds, function)
