"""That a node pulls an image, and for how long: images of engines have gigabytes, and a pod's status does not tell."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from llmservice.converging.preparation import Preparation
from llmservice.converging.spans import span, step
from llmservice.objects.pods import engine_of, is_living, is_ready, running_of
from llmservice.objects.references import Manifest

_WORTH_TELLING_SECONDS = 10
"""An image that was on the node already is there at once, which says nothing of the next node."""


def pulling(
    pods: Iterable[Manifest], preparations: Mapping[str, Preparation], status: Mapping[str, Any], now: datetime
) -> str:
    """What nodes pull for the pods that are not ready, as a part of a sentence; empty when they wait for anything else.

    The time is rounded down to few steps, so that the status is written a few times and not every second. `status` is
    that of the service: it tells how long the last start took to get its image.
    """
    unready = [pod for pod in pods if is_living(pod) and not is_ready(pod)]
    if any(running_of(engine_of(pod)) is not None for pod in unready):
        return ""
    known = [preparations[name] for pod in unready if (name := pod["metadata"]["name"]) in preparations]
    pulls = [each for each in known if each.pulling]
    if not pulls:
        return ""
    longest = min(pulls, key=lambda each: each.pulling_since)
    seconds = step((now - datetime.fromisoformat(longest.pulling_since)).total_seconds())
    nodes = "a node pulls" if len(pulls) == 1 else f"{len(pulls)} nodes pull"
    return f"{nodes} {longest.pulling}{f', for {span(seconds)} so far' if seconds else ''}{_before(status)}"


def _before(status: Mapping[str, Any]) -> str:
    took = ((status.get("startup") or {}).get("last") or {}).get("imageSeconds") or 0
    return f"; it took {span(took)} at the last start" if took >= _WORTH_TELLING_SECONDS else ""
