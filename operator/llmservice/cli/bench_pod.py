"""The pod of a bench's Job until it has a log, and the lines in which its caller is told of both."""

import asyncio
import sys

import click

from llmservice.cluster.api_server import ApiServer
from llmservice.errors import Unavailable
from llmservice.objects.pods import has_ended, waiting_of
from llmservice.objects.references import Manifest, ref_of, uid_of
from llmservice.untrusted.texts import cut, printable

_LOOK_SECONDS = 1.0
_PATIENCE_SECONDS = {
    "Unschedulable": 600,
    "ErrImagePull": 120,
    "ImagePullBackOff": 120,
    "InvalidImageName": 5,
    "CreateContainerConfigError": 60,
}
"""How long what is in the way of a start may last, by its reason: nodes are added, registries have short outages."""
_SHOWN = 300


async def begun(server: ApiServer, job: Manifest) -> Manifest:
    """The pod once it has a log. Raises Unavailable where its image cannot be pulled or the Job made no pod."""
    selector = f"batch.kubernetes.io/controller-uid={uid_of(job)}"
    refused, told = 0.0, set[str]()
    while True:
        pods = await server.list("Pod", job["metadata"]["namespace"], label_selector=selector)
        if pods and (has_ended(pods[0]) or pods[0].get("status", {}).get("phase") == "Running"):
            return pods[0]
        why = _why(pods[0]) if pods else "no pod yet"
        if why not in told:  # a pull is tried and waited for in turns
            told.add(why)
            tell(f"waiting for the pod: {why}")
        patience = next((seconds for name, seconds in _PATIENCE_SECONDS.items() if why.startswith(name)), None)
        refused = 0.0 if patience is None else refused + _LOOK_SECONDS
        if patience is not None and refused > patience:
            raise Unavailable("JobNotStarted", f"the pod of {ref_of(job)} does not start: {why}")
        await asyncio.sleep(_LOOK_SECONDS)


def _why(pod: Manifest) -> str:
    """Why it does not run yet, in a line."""
    status = pod.get("status", {})
    waiting = [waiting_of(each) for each in status.get("containerStatuses") or ()]
    conditions = [each for each in status.get("conditions") or () if each.get("status") == "False"]
    for each in (*waiting, *(one for one in conditions if one.get("type") == "PodScheduled")):
        if each.get("reason"):
            words = f"{each['reason']} {each.get('message') or ''}"
            return in_a_line(words)
    return "it starts"


def in_a_line(text: str) -> str:
    """What a stranger wrote, so that it can be shown: one line of some hundred characters."""
    return cut(" ".join(printable(text).split()), _SHOWN)


def tell(text: str) -> None:
    """A line for whoever waits; the report alone goes to standard output."""
    click.echo(text, file=sys.stderr)
