"""The two things a pod's status does not say: the end of a crashed engine's log, and why a volume is not mounted.

Each log is read once per container restart, at most 64 kB; events of a pod while it waits for its volumes: every few
seconds until there is one, then now and then.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmservice.cluster.cluster import Cluster
from llmservice.converging.references import Manifest, ref_of, uid_of

_UNTIL_FIRST_SECONDS = 4.0
_EVENTS_EVERY_SECONDS = 20.0
_PODS_AT_MOST = 4
_REMEMBERED_AT_MOST = 256
_TERMINATION_MESSAGE_BYTES = 1900
"""The kubelet cuts a termination message at 2 kB: a longer log may hide the cause further up."""

Readings = dict[str, str]


@dataclass(slots=True)
class PodInsight:
    """Reads logs and events of pods in trouble and remembers what it read."""

    cluster: Cluster
    _logs: OrderedDict[tuple[str, int], str] = field(default_factory=OrderedDict)
    _warnings: OrderedDict[str, tuple[float, str]] = field(default_factory=OrderedDict)

    async def read(self, pods: Sequence[Manifest]) -> tuple[Readings, Readings]:
        """Log ends and newest warnings by pod name, for the pods that need them."""
        logs: Readings = {}
        warnings: Readings = {}
        for pod in [pod for pod in pods if not _is_fine(pod)][-_PODS_AT_MOST:]:
            name = pod["metadata"]["name"]
            if _crashed(pod):
                logs[name] = await self._log(pod)
            elif _is_creating(pod):
                warnings[name] = await self._warning(pod)
        return logs, warnings

    async def _log(self, pod: Manifest) -> str:
        container = _container(pod)
        key = (uid_of(pod), int(container.get("restartCount", 0)))
        if key not in self._logs:
            previous = "terminated" not in container.get("state", {})
            self._logs[key] = await self.cluster.log_tail(ref_of(pod), "engine", previous=previous)
            _keep_newest(self._logs)
        return self._logs[key]

    async def _warning(self, pod: Manifest) -> str:
        uid, now = uid_of(pod), asyncio.get_running_loop().time()
        read_at, text = self._warnings.get(uid, (-_EVENTS_EVERY_SECONDS, ""))
        if now - read_at >= pause_for(text):
            selector = f"involvedObject.uid={uid},type=Warning"
            events = await self.cluster.list("Event", pod["metadata"]["namespace"], field_selector=selector)
            newest = max(events, key=_moment, default={})
            text = str(newest.get("message", ""))
            self._warnings[uid] = (now, text)
            _keep_newest(self._warnings)
        return text


def _keep_newest(remembered: OrderedDict[Any, Any]) -> None:
    while len(remembered) > _REMEMBERED_AT_MOST:
        remembered.popitem(last=False)


def pause_for(warning: str) -> float:
    """Seconds until the next look at the events of a pod of which this is known."""
    return _EVENTS_EVERY_SECONDS if warning else _UNTIL_FIRST_SECONDS


def _moment(event: Mapping[str, Any]) -> str:
    metadata = event["metadata"]
    return str(event.get("lastTimestamp") or event.get("eventTime") or metadata.get("creationTimestamp") or "")


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
