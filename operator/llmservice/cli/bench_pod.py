"""The pod of a bench's Job until it has a log, and the lines in which its caller is told of both."""

import asyncio
import sys
from dataclasses import dataclass, field

import click

from llmservice.cli.service_state import event_time
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.visible import visible
from llmservice.errors import Unavailable
from llmservice.objects.pods import has_ended, waiting_of
from llmservice.objects.references import Manifest, ref_of, uid_of
from llmservice.untrusted.texts import in_a_line

_LOOK_SECONDS = 1.0
_EVENTS_SECONDS = 5
"""Between two looks at Events, where the pod itself says nothing."""
_PATIENCE_SECONDS = {
    "Unschedulable": 600,
    "ErrImagePull": 120,
    "ImagePullBackOff": 120,
    "InvalidImageName": 5,
    "CreateContainerConfigError": 60,
    "FailedCreate": 15,
    "FailedMount": 60,
}
"""How long what is in the way of a start may last, by its reason: nodes are added, registries have short outages."""
_NO_POD = "no pod yet"
_STARTS = "it starts"
_UNTOLD = frozenset({_NO_POD, _STARTS, "ContainerCreating"})
"""What says nothing of the cause: then Events may."""
SHOWN = 300
"""Characters of what strangers wrote."""


@dataclass(slots=True, kw_only=True)
class PodOfJob:
    """Of one Job. Where its Events may not be listed, only pods tell what is in the way."""

    server: ApiServer
    job: Manifest
    _looks: int = 0
    _said: str = ""
    _told: set[str] = field(default_factory=set)

    async def begun(self) -> Manifest:
        """The pod once it has a log. Raises Unavailable where it does not start, and where the Job is gone."""
        refused = 0.0
        while True:
            pod = await self._found()
            if pod and (has_ended(pod) or pod.get("status", {}).get("phase") == "Running"):
                return pod
            why = await self._why(pod)
            if why not in self._told:  # a pull is tried and waited for in turns
                self._told.add(why)
                tell(f"waiting for the pod: {why}")
            patience = next((seconds for name, seconds in _PATIENCE_SECONDS.items() if why.startswith(name)), None)
            refused = 0.0 if patience is None else refused + _LOOK_SECONDS
            if patience is not None and refused > patience:
                raise Unavailable("JobNotStarted", f"the pod of {ref_of(self.job)} does not start: {why}")
            await asyncio.sleep(_LOOK_SECONDS)

    async def _found(self) -> Manifest | None:
        selector = f"batch.kubernetes.io/controller-uid={uid_of(self.job)}"
        pods = await self.server.list("Pod", self.job["metadata"]["namespace"], label_selector=selector)
        return pods[0] if pods else None

    async def _why(self, pod: Manifest | None) -> str:
        """Why it does not run yet, in a line."""
        why = _of_pod(pod) if pod else _NO_POD
        if why not in _UNTOLD:
            return why
        if self._looks % _EVENTS_SECONDS == _EVENTS_SECONDS - 1:
            self._said = await self._events_of(pod or self.job)
        self._looks += 1
        return self._said or why

    async def _events_of(self, about: Manifest) -> str:
        """What the newest Event of the pod says is in the way, or that of the Job without one.

        Nothing where a newer one says that it went on, or without the right to list them.
        """
        selector = f"involvedObject.uid={uid_of(about)}"
        events = await visible(self.server, "Event", self.job["metadata"]["namespace"], field_selector=selector)
        newest = max(events, key=event_time, default={})
        return _line(newest["reason"], newest.get("message")) if newest.get("reason") in _PATIENCE_SECONDS else ""


def _of_pod(pod: Manifest) -> str:
    status = pod.get("status", {})
    waiting = [waiting_of(each) for each in status.get("containerStatuses") or ()]
    conditions = [each for each in status.get("conditions") or () if each.get("status") == "False"]
    for each in (*waiting, *(one for one in conditions if one.get("type") == "PodScheduled")):
        if each.get("reason"):
            return _line(each["reason"], each.get("message"))
    return _STARTS


def _line(reason: object, message: object) -> str:
    words = _without_pod_name(str(message or ""))
    return in_a_line(f"{reason}: {words}" if words else str(reason), SHOWN)


def _without_pod_name(message: str) -> str:
    """Each try of a Job has another name in it, and says nothing new."""
    before, creating, after = message.partition('Error creating: pods "')
    return f"{before}the pod {after.partition(chr(34))[2].strip()}" if creating else message


def tell(text: str) -> None:
    """A line for whoever waits; the report alone goes to standard output."""
    click.echo(text, file=sys.stderr)
