"""The two things a pod's status does not say: the end of a crashed engine's log, and what a container waits for.

Each log is read once per container restart, at most 64 kB; events of a pod until its volumes are mounted and its
sandbox is made: every few seconds, less often once there is a warning, and hardly ever once they are.
"""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmservice.cluster.cluster import Cluster
from llmservice.converging.preparation import Preparation, preparation
from llmservice.converging.references import Manifest, ref_of, uid_of

_UNTIL_FIRST_SECONDS = 4.0
_WARNED_SECONDS = 20.0
_PREPARED_SECONDS = 60.0
_PODS_AT_MOST = 4
_REMEMBERED_AT_MOST = 256
_TERMINATION_MESSAGE_BYTES = 1900
"""The kubelet cuts a termination message at 2 kB: a longer log may hide the cause further up."""


@dataclass(slots=True)
class PodInsight:
    """Reads logs and events of pods in trouble and remembers what it read."""

    cluster: Cluster
    _logs: OrderedDict[tuple[str, int], str] = field(default_factory=OrderedDict)
    _preparations: OrderedDict[str, tuple[float, Preparation]] = field(default_factory=OrderedDict)

    async def read(self, pods: Sequence[Manifest]) -> tuple[dict[str, str], dict[str, Preparation]]:
        """Log ends, and how far the kubelet is, by pod name, for the pods that need them."""
        logs: dict[str, str] = {}
        preparations: dict[str, Preparation] = {}
        for pod in [pod for pod in pods if not _is_fine(pod)][-_PODS_AT_MOST:]:
            name = pod["metadata"]["name"]
            if _crashed(pod):
                logs[name] = await self._log(pod)
            elif _is_creating(pod):
                preparations[name] = await self._preparation(pod)
        return logs, preparations

    async def _log(self, pod: Manifest) -> str:
        container = _container(pod)
        key = (uid_of(pod), int(container.get("restartCount", 0)))
        if key not in self._logs:
            previous = "terminated" not in container.get("state", {})
            self._logs[key] = await self.cluster.log_tail(ref_of(pod), "engine", previous=previous)
            _keep_newest(self._logs)
        return self._logs[key]

    async def _preparation(self, pod: Manifest) -> Preparation:
        uid, now = uid_of(pod), asyncio.get_running_loop().time()
        read_at, known = self._preparations.get(uid, (-math.inf, Preparation()))
        if now - read_at < pause_for(known):
            return known
        selector = f"involvedObject.uid={uid}"
        known = preparation(await self.cluster.list("Event", pod["metadata"]["namespace"], field_selector=selector))
        self._preparations[uid] = (now, known)
        _keep_newest(self._preparations)
        return known


def _keep_newest(remembered: OrderedDict[Any, Any]) -> None:
    while len(remembered) > _REMEMBERED_AT_MOST:
        remembered.popitem(last=False)


def pause_for(known: Preparation) -> float:
    """Seconds until the next look at the events of a pod of which this is known."""
    if known.over:
        return _PREPARED_SECONDS
    return _WARNED_SECONDS if known.warning else _UNTIL_FIRST_SECONDS


def _container(pod: Manifest) -> Mapping[str, Any]:
    statuses: Sequence[Mapping[str, Any]] = pod.get("status", {}).get("containerStatuses") or ({},)
    return statuses[0]


def _is_fine(pod: Manifest) -> bool:
    return bool(_container(pod).get("ready")) or "deletionTimestamp" in pod["metadata"]


def _crashed(pod: Manifest) -> bool:
    container = _container(pod)
    end = container.get("state", {}).get("terminated") or container.get("lastState", {}).get("terminated")
    return bool(end) and len(end.get("message", "")) >= _TERMINATION_MESSAGE_BYTES


def _is_creating(pod: Manifest) -> bool:
    return bool(_container(pod).get("state", {}).get("waiting", {}).get("reason") == "ContainerCreating")
