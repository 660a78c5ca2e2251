"""The proxy before an engine: where there is one, what it bounds, which keys it asks for, what it may use.

It stands before engines that measure and queue nothing, and before any engine whose clients need keys.
"""

import math
from collections.abc import Mapping

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Json
from llmservice.engines.engine import EVERYWHERE, LOOPBACK, PORT, PROXIED_PORT, Capabilities, Engine, Launch
from llmservice.planning.facts import Facts
from llmservice.planning.images import mirrored
from llmservice.planning.proxied import is_proxied
from llmservice.planning.proxy_plan import KeysPlan, ProxyPlan
from llmservice.planning.resources import ContainerResources
from llmservice.planning.security import CONTAINER_SECURITY

_QUEUED = 1000
"""Requests that wait at most, where the engine has no queue: more are told to come again."""
_CONNECTIONS = 4000
_PER_CONNECTION_KIB = 40
"""Two buffers of 16 KiB, where both sides wait, and what describes the connection (tune.bufsize)."""
_PROCESS_MIB = 64
_STEP_MIB = 64
_REQUESTS = {"cpu": "100m", "memory": f"{_PROCESS_MIB}Mi"}
_GUARANTEED_CPU = "500m"
_USER = 99
"""The user of the official image; another one than the engine's, so that the engine cannot read the keys."""


def listens_on(spec: LLMServiceSpec, engine: Engine) -> tuple[str, int]:
    """Address and port of the engine: behind a proxy nobody else reaches it."""
    return (LOOPBACK, PROXIED_PORT) if is_proxied(spec, engine.capabilities) else (EVERYWHERE, PORT)


def choose_proxy(
    spec: LLMServiceSpec, facts: Facts, can: Capabilities, launch: Launch, resources: ContainerResources, requests: int
) -> ProxyPlan | None:
    """The proxy, or None where clients talk to the engine. `requests` may run at once."""
    if not is_proxied(spec, can):
        return None
    running, queued = (requests, _QUEUED) if can.proxied else (0, 0)
    connections = max(_CONNECTIONS, 2 * requests + _QUEUED)
    asked, limits = _resources(resources, connections)
    return ProxyPlan(
        image=mirrored(facts.proxy, facts.registry.mirrors),
        pull_policy=spec.pod.image_pull_policy or "IfNotPresent",
        measures=can.proxied,
        running=running,
        queued=queued,
        connections=connections,
        keys=_keys(spec),
        probes=(launch.probes.readiness, launch.probes.startup, launch.probes.liveness),
        client_paths=can.client_paths,
        security=_security(spec),
        resource_requests=asked,
        resource_limits=limits,
        stop_seconds=launch.pre_stop_seconds + launch.stop_seconds,
    )


def _keys(spec: LLMServiceSpec) -> KeysPlan | None:
    if spec.auth is None:
        return None
    reference = spec.auth.keys_secret_ref
    return KeysPlan(name=reference.name, entry=reference.key or "")


def _security(spec: LLMServiceSpec) -> Json:
    """As of the engine's container, and stricter: it writes nowhere but to its volume. A user that is asked for is."""
    own = spec.pod.security_context.run_as_user
    user = {} if own is not None else {"runAsUser": _USER, "runAsGroup": _USER}
    return {**CONTAINER_SECURITY, **user, "runAsNonRoot": True, "readOnlyRootFilesystem": True}


def _resources(engine: ContainerResources, connections: int) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Little, and no limit of CPU, which would hold up streams; a pod that is Guaranteed stays that."""
    mebibytes = _PROCESS_MIB + connections * _PER_CONNECTION_KIB / 1024
    memory = f"{math.ceil(mebibytes / _STEP_MIB) * _STEP_MIB}Mi"
    wanted = ("cpu", "memory")
    if all(engine.limits.get(name) and engine.requests.get(name) in {None, engine.limits[name]} for name in wanted):
        same = {"cpu": _GUARANTEED_CPU, "memory": memory}
        return same, same
    return _REQUESTS, {"memory": memory}
