"""How the devices of a replica share the model: `spec.gpu.parallelism`, else as is usual for the engine."""

import math
from collections.abc import Iterator

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.gpu import Parallelism as Asked
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import Engine
from llmservice.engines.parallelism import KINDS, Kind, Parallelism, ParallelUse
from llmservice.errors import InvalidSpec
from llmservice.planning.facts import Facts
from llmservice.planning.gathering import gather
from llmservice.planning.nodes import devices_of, nodes_of

_FIELD = "spec.gpu.parallelism"
_ANY = ParallelUse(flags={"tensor": ""})


def choose_parallelism(spec: LLMServiceSpec, facts: Facts, engine: Engine) -> Parallelism:
    """What is asked for; what is omitted is 1, but for the kind that gets the devices that are left.

    On several nodes that is tensor within a node, and what is left of the devices are stages: layers are divided where
    devices are near each other (vLLM's docs/serving/parallelism_scaling.md).
    """
    asked, use = spec.gpu.parallelism or Asked(), engine.capabilities.parallelism or _ANY
    said = {name: getattr(asked, name) or 1 for name in ("tensor", "pipeline", "data")}
    nodes, devices = nodes_of(spec), devices_of(spec, facts)
    if nodes > 1 and asked.pipeline is None and "pipeline" in use.flags:
        said["pipeline"] = max(1, devices // math.prod(said.values())) if asked.tensor else nodes
    if getattr(asked, use.rest) is None:
        others = math.prod(number for name, number in said.items() if name != use.rest)
        said[use.rest] = max(1, devices // others)
    return Parallelism(**said, expert=asked.expert or 1)


def check_parallelism(spec: LLMServiceSpec, facts: Facts, engine: Engine) -> None:
    """Refuses what the engine or its version cannot do; raises InvalidSpec naming the field.

    What the model allows for is part of the fit check.
    """
    if spec.gpu.parallelism is None:
        return
    use, chosen = engine.capabilities.parallelism, choose_parallelism(spec, facts, engine)
    if use is None:
        message = f"{engine.name} spreads a model over its devices by itself; remove it"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field=_FIELD)
    gather(
        lambda: _check_kinds(use, chosen, facts),
        lambda: _check_number(spec.gpu.parallelism or Asked(), use, chosen, facts, nodes_of(spec)),
        lambda: _check_experts(use, chosen),
        lambda: _check_requests(spec, chosen),
    )


def _check_kinds(use: ParallelUse, chosen: Parallelism, facts: Facts) -> None:
    """Kinds that the engine has not, that this version has not, or that it does not have together."""
    version = facts.version
    for kind in _more_than_one(chosen):
        named = f"{version.engine} {version.version}"
        if kind not in use.flags:
            able = ", ".join(each for each in KINDS if each in use.flags)
            message = f"{named} has no {kind} parallelism; remove it, and use {able}"
            raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field=f"{_FIELD}.{kind}")
        if use.flags[kind] and not version.knows(use.flags[kind]):
            message = f"{named} has no {use.flags[kind]}; remove it, or set another spec.engineOptions.version"
            raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field=f"{_FIELD}.{kind}")
    several = list(_more_than_one(chosen))
    if len(several) > 1 and not use.combines:
        message = (
            f"{version.engine} has either {' or '.join(several)} parallelism; set {several[0]}: {facts.devices} alone, "
            f"or {several[1]}: {facts.devices}"
        )
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field=_FIELD)


def _more_than_one(chosen: Parallelism) -> Iterator[Kind]:
    return (kind for kind in KINDS if getattr(chosen, kind) > 1)


def _check_number(asked: Asked, use: ParallelUse, chosen: Parallelism, facts: Facts, nodes: int) -> None:
    """Every device has its place, of each alternative too."""
    devices = facts.devices * nodes
    number = chosen.tensor * chosen.pipeline * chosen.data
    if number != devices:
        written = f"tensor {chosen.tensor} x pipeline {chosen.pipeline} x data {chosen.data}"
        others = f"; omit {use.rest}, which then gets what the others leave" if getattr(asked, use.rest) else ""
        message = f"{written} is {number}, and a replica has {devices} × {facts.device_name}{others}"
        product = "gpu.count" if nodes == 1 else "gpu.count x gpu.nodes"
        raise InvalidSpec(Reason.INVALID_SPEC, f"{message}; the product must be {product}", field=_FIELD)


def _check_experts(use: ParallelUse, chosen: Parallelism) -> None:
    """Over how many devices whole experts can be spread."""
    whole = chosen.tensor * (chosen.data if use.copies_share_experts else 1)
    wrong = chosen.expert not in (1, whole) if use.copies_share_experts else whole % chosen.expert
    if wrong:
        product = "tensor x data" if use.copies_share_experts else "a divisor of tensor"
        message = f"must be {product}; set it to {whole}, or omit it to divide each expert"
        raise InvalidSpec(Reason.INVALID_SPEC, message, field=f"{_FIELD}.expert")


def _check_requests(spec: LLMServiceSpec, chosen: Parallelism) -> None:
    """Each copy takes the same number of requests at once."""
    requests = spec.max_num_seqs or chosen.data
    if requests % chosen.data:
        fewer = requests // chosen.data * chosen.data
        near = " or ".join(str(number) for number in (fewer, fewer + chosen.data) if number)
        message = f"{requests} requests cannot be shared evenly by {chosen.data} copies of the model; set {near}"
        raise InvalidSpec(Reason.INVALID_SPEC, message, field="spec.maxNumSeqs")
