"""Resource requests and limits of a replica: devices, CPU, memory, scratch space."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from llmservice.api.v1alpha1.quantity import amount_of
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.argument_values import value_of
from llmservice.engines.engine import Default, Engine, ModelSource
from llmservice.models.kv_cache import kv_cache
from llmservice.models.sizes import GIB, in_gib
from llmservice.models.weights import weight_bytes
from llmservice.planning.context import Context
from llmservice.planning.facts import Facts
from llmservice.planning.pod_room import room_resources
from llmservice.planning.shared_memory import gib_in

_CPU, _MEMORY, _DISK = "cpu", "memory", "ephemeral-storage"
_WHY_SMALL = "small enough for any node; without a limit the engine may use what is free, raise it to reserve more"
_Asked = dict[str, tuple[str, str]]
"""Resource → amount and reason."""
_SMALL: _Asked = {_CPU: ("250m", _WHY_SMALL), _MEMORY: ("512Mi", _WHY_SMALL)}
_PROCESS_GIB = 4
"""Host memory of one engine process per device: Python, libraries, pinned buffers."""
_READ_AT_ONCE = 0.1
"""The share of the weights that is in the process while they go to the devices."""
_ON_CPU_GIB = 4
_MOST_BYTES = 2**48
"""Of what is asked for because somebody says so of a model: no node has it, and twice as much is still an amount."""
_CACHES_GIB = 10
"""Disk for compiled kernels, logs and what else an engine writes beside the weights. With much more, 14B in 16 bits
would not be scheduled on nodes with the usual 100 GB disk, of which GKE lets pods have half."""
_CACHE_LIMIT_GIB = 40
_SHARE_OF_LIMIT = 4
"""vLLM's KV cache on a CPU gets this part of the memory limit (engines/vllm)."""
_DISK_MARGIN = 1.2
"""A download keeps unfinished parts beside finished files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerResources:
    """Requests and limits by resource name; `cores` and `memory_bytes` are the limits as numbers, 0 when none.

    `disk` is the most that the engine may write beside mounted volumes, empty without a limit.
    """

    requests: Mapping[str, str]
    limits: Mapping[str, str]
    cores: float
    memory_bytes: int
    disk: str
    defaults: tuple[Default, ...]


def _kv_cache_on_host(spec: LLMServiceSpec, facts: Facts, engine: Engine, context: Context) -> int:
    """Bytes of KV cache without which the engine does not start on CPUs; 0 with devices, or where that is not known."""
    use, cache = engine.capabilities.memory, kv_cache(facts.model, spec.kv_cache_dtype or "")
    if facts.accelerator is not None or use is None or cache is None:
        return 0
    requests = context.max_num_seqs if use.reserves_requests else 1
    return math.ceil(cache.request_bytes(context.max_model_len, use.step_tokens) * requests)


def choose_resources(
    spec: LLMServiceSpec, facts: Facts, source: ModelSource, engine: Engine, context: Context
) -> ContainerResources:
    """The user's amounts; for what is omitted what weights and KV cache ask for, else little; devices as limits.

    In Kubernetes a limit without a request is its own request, so no smaller one is added.
    """
    own = spec.pod.resources
    requests, limits = own.requests.as_json(), own.limits.as_json()
    weights = weight_bytes(facts.model, spec.quantization) or 0
    files = 0 if source.is_mounted or source.scheme != "hf" else (facts.model.file_bytes or weights)
    weights, files = min(weights, _MOST_BYTES), min(files, _MOST_BYTES)
    kv_cache_bytes = min(_MOST_BYTES, _kv_cache_on_host(spec, facts, engine, context))
    use = engine.capabilities.memory
    added = {
        name: amount
        for name, amount in (
            _SMALL | _memory(facts, weights, kv_cache_bytes, _host_gib(spec, facts, engine)) | _disk(files)
        ).items()
        if name not in requests and name not in limits
    }
    least = 0 if use is None or use.reserves_requests else _SHARE_OF_LIMIT * math.ceil(kv_cache_bytes / GIB)
    asked = {**_amounts(added), **requests}
    limited = _limits(facts, weights, least, asked, limits)
    devices = {facts.accelerator.resource_name: str(facts.devices)} if facts.accelerator else {}
    room = room_resources(spec.pod)
    memory = limited.get(_MEMORY, ("", ""))[0] or own.limits.memory
    return ContainerResources(
        requests={**asked, **room},
        limits={**_amounts(limited), **limits, **room, **devices},
        cores=_amount(own.limits.cpu),
        memory_bytes=int(_amount(memory)),
        disk=f"{math.ceil(files * _DISK_MARGIN / GIB) + _CACHE_LIMIT_GIB}Gi" if files else "",
        defaults=(*_defaults("requests", added), *_defaults("limits", limited)),
    )


def _host_gib(spec: LLMServiceSpec, facts: Facts, engine: Engine) -> int:
    """What options keep on the host, so that no node is chosen that has not got it."""
    args, can = spec.engine_options.args, engine.capabilities
    weights = gib_in(value_of(args, can.offloads_to_host)) * facts.devices
    return weights + gib_in(value_of(args, can.offloads_to_shared_memory))


def _memory(facts: Facts, weights: int, kv_cache_bytes: int, host_gib: int) -> _Asked:
    if not weights:
        return {}
    if facts.accelerator is None:
        beside = max(_ON_CPU_GIB, math.ceil(kv_cache_bytes / GIB) + 1)
        size = math.ceil(weights / GIB) + beside
        return {_MEMORY: (f"{size}Gi", f"{in_gib(weights)} of weights, {beside} GiB for KV cache and the process")}
    size = _PROCESS_GIB * facts.devices + math.ceil(_READ_AT_ONCE * weights / GIB) + host_gib
    why = f"{_PROCESS_GIB} GiB for the process of each device, and a tenth of {in_gib(weights)} of weights"
    if host_gib:
        why = f"{why}; {host_gib} GiB that options keep on the host"
    return {_MEMORY: (f"{size}Gi", why)}


def _disk(files: int) -> _Asked:
    if not files:
        return {}
    why = f"{in_gib(files)} of weights are downloaded to the node, {_CACHES_GIB} GiB for caches and logs"
    return {_DISK: (f"{math.ceil(files / GIB) + _CACHES_GIB}Gi", why)}


def _limits(facts: Facts, weights: int, least: int, requests: Mapping[str, str], limits: Mapping[str, str]) -> _Asked:
    """A limit on CPUs, where the engine would take what the node has; never below what is asked for.

    With devices there is none: what options keep on the host (offloaded KV cache) is not known, and memory that only
    caches files counts towards a limit.
    """
    if facts.accelerator is not None or not weights or _MEMORY in limits:
        return {}
    size = math.ceil(2 * _amount(requests.get(_MEMORY)) / GIB)
    if size < least:
        return {_MEMORY: (f"{least}Gi", "four times the KV cache of one request, which gets a quarter of it")}
    return {_MEMORY: (f"{size}Gi", "twice the request: engines take what their node has left otherwise")}


def _amounts(asked: _Asked) -> dict[str, str]:
    return {name: amount for name, (amount, _) in asked.items()}


def _defaults(kind: str, amounts: _Asked) -> tuple[Default, ...]:
    return tuple(
        Default(field=f"pod.resources.{kind}.{name}", value=amount, reason=why)
        for name, (amount, why) in amounts.items()
    )


def _amount(quantity: str | None) -> float:
    return float(amount_of(quantity)) if quantity else 0.0
