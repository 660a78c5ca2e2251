"""The arithmetic of a verdict as one sentence."""

from collections.abc import Iterable

from llmservice.catalog.accelerator import Accelerator
from llmservice.models.sizes import in_gib
from llmservice.planning.fit.remedies import Remedy
from llmservice.planning.fit.room import Room
from llmservice.planning.fit.setup import Setup

_TOLD = 3
"""Remedies that one sentence names."""


def weights_too_large(room: Room, accelerator: Accelerator, setup: Setup) -> str:
    """The weights, or they and what the engine needs to run at all, are more than the device gives."""
    needed = f"the weights need {in_gib(room.weights)}"
    if room.weights <= room.usable:
        needed = f"{needed} and the engine {in_gib(room.usable - room.weights - room.optimistic)}"
    offered = f"{in_gib(room.usable)} ({accelerator.memory_gib:g} x {setup.utilization:g})"
    if setup.devices == 1:
        return f"{needed}; {_named(accelerator)} offers {offered}"
    return f"{needed} on {_place(accelerator, setup)}; each offers {offered}"


def cache_too_small(room: Room, accelerator: Accelerator, setup: Setup, *, tight: bool) -> str:
    """The KV cache of what must run at least does not fit."""
    what = f"{setup.max_model_len} tokens need {in_gib(room.needed)} of KV cache"
    if room.reserved > 1:
        what = f"{room.reserved} slots of {setup.max_model_len} tokens need {in_gib(room.needed)} of KV cache"
    place = _place(accelerator, setup)
    if tight and setup.max_model_len == 1:
        return f"{in_gib(max(0.0, room.careful))} to {in_gib(room.optimistic)} of KV cache are left on {place}"
    if tight:
        return f"{what}; {in_gib(max(0.0, room.careful))} to {in_gib(room.optimistic)} are left on {place}"
    return f"{what}; {in_gib(room.careful) + ' are' if room.careful > 0 else 'nothing is'} left on {place}"


def what_is_left(room: Room, requests: float, accelerator: Accelerator, setup: Setup) -> str:
    """What is left, and for how many requests."""
    if not room.request:
        return f"the weights need {in_gib(room.weights)} of {in_gib(room.usable)} on {_place(accelerator, setup)}"
    left = f"{in_gib(max(0.0, room.careful))} of KV cache are left on {_place(accelerator, setup)}"
    if setup.max_model_len == 1:
        return left
    at_once = min(int(requests), setup.max_num_seqs)
    queue = "; the rest queue" if at_once < setup.max_num_seqs else ""
    return f"{left}: {at_once} of {setup.max_num_seqs} requests of {setup.max_model_len} tokens at once{queue}"


def with_remedies(sentence: str, found: Iterable[Remedy]) -> str:
    """The sentence with the first ways out."""
    told = [_told(remedy) for remedy in list(found)[:_TOLD]]
    if not told:
        return f"{sentence}: take a smaller model or larger devices"
    *others, last = told
    comma = "," if len(others) > 1 else ""
    listed = f"{', '.join(others)}{comma} or {last}" if others else last
    return f"{sentence}: {listed}"


def _told(remedy: Remedy) -> str:
    allowed = f" ({remedy.context})" if remedy.context else ""
    count = f" with gpu.count {remedy.count}" if remedy.count else ""
    without = f" without {remedy.without}" if remedy.without else ""
    return f"{remedy.field} {remedy.value}{count}{without}{allowed}"


def _named(accelerator: Accelerator) -> str:
    """With the article people say: an L4, an MI300X, a Radeon."""
    name = accelerator.shown_name
    spelled = name[:1] in "FHLMNRSX" and not name[1:2].islower()
    return f"{'an' if spelled or name[:1] in 'AEIO' else 'a'} {name}"


def _place(accelerator: Accelerator, setup: Setup) -> str:
    if setup.devices == 1:
        return _named(accelerator)
    several = "s" if accelerator.is_slice else ""
    where = f" on {setup.nodes} nodes" if setup.nodes > 1 else ""
    return f"each of {setup.devices} {accelerator.shown_name}{several}{where}"
