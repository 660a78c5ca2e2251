"""How many nodes one replica has: what the resource asks for, and what keeps an engine from it."""

from collections.abc import Iterator, Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import Engine
from llmservice.engines.parallelism import Parallelism
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from llmservice.planning.facts import Facts
from llmservice.planning.gathering import gather

_FIELD = "spec.gpu.nodes"
LONGEST_NAME = 48
"""Of a resource whose replicas are groups. The pods' label controller-revision-hash has 63 characters at most: this
name, the number of a group, and a hash (k8s.io/kubernetes, pkg/controller/statefulset)."""


def nodes_of(spec: LLMServiceSpec) -> int:
    """Nodes of one replica."""
    return spec.gpu.nodes or 1


def devices_of(spec: LLMServiceSpec, facts: Facts) -> int:
    """Devices of one replica, on all its nodes."""
    return facts.devices * nodes_of(spec)


def notes_on_nodes(spec: LLMServiceSpec, facts: Facts, shared: Parallelism) -> Iterator[str]:
    """How a replica is spread, and what is not done for it.

    Of whom the pods trust: vLLM's docs/serving/parallelism_scaling.md, "Network security".
    """
    nodes = nodes_of(spec)
    if nodes > 1 and spec.network_policy is None:
        yield (
            "the pods of a group trust whoever reaches the ports on which they meet, and may run what comes there; set "
            "spec.networkPolicy, so that nobody else does"
        )
    if nodes > 1:
        yield (
            f"a replica is {nodes} pods of {facts.devices} × {facts.device_name}, started and ended as one (tensor "
            f"{shared.tensor}, pipeline {shared.pipeline}); the pods talk over the cluster's network, by RDMA "
            "only where spec.pod.networkDevices asks for it"
        )


def check_nodes(service: LLMService, facts: Facts, engine: Engine, engines: Mapping[str, Engine] = ENGINES) -> None:
    """Raises InvalidSpec naming the field for what groups cannot be, each with the remedy."""
    if nodes_of(service.spec) == 1:
        return
    gather(
        lambda: _check_engine(facts, engine, engines),
        lambda: _check_copies(service.spec),
        lambda: _check_adapters(service.spec),
        lambda: _check_name(service.metadata.name),
    )


def _check_engine(facts: Facts, engine: Engine, engines: Mapping[str, Engine]) -> None:
    flags = engine.capabilities.across_nodes
    if not flags:
        able = " or ".join(each.name for each in engines.values() if each.capabilities.across_nodes)
        message = f"{engine.name} serves a model from one node; remove it, or set spec.engine: {able}"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field=_FIELD)
    if lacking := [flag for flag in flags if not facts.version.knows(flag)]:
        version = f"{facts.version.engine} {facts.version.version}"
        message = f"{version} has no {lacking[0]}; remove it, or set another spec.engineOptions.version"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field=_FIELD)


def _check_copies(spec: LLMServiceSpec) -> None:
    if spec.gpu.parallelism is not None and (spec.gpu.parallelism.data or 1) > 1:
        message = "copies of the model share no nodes; remove it, and set spec.replicas for more replicas"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.gpu.parallelism.data")


def _check_adapters(spec: LLMServiceSpec) -> None:
    if spec.adapter_updates == "Live":
        message = "adapters come and go on one node alone; remove it, or remove spec.gpu.nodes"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.adapterUpdates")


def _check_name(name: str) -> None:
    if len(name) > LONGEST_NAME:
        message = f"of a service on several nodes it may have {LONGEST_NAME} characters, not {len(name)}"
        raise InvalidSpec(Reason.INVALID_SPEC, message, field="metadata.name")
