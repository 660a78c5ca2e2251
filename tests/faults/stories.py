"""What takes a while and goes through replicas: a download and a rollback, cut by the operator's death."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.tiny_model import tiny_model
from tests.cluster.kube import Body, Kube, condition_of
from tests.cluster.services import a_tiny_service
from tests.faults.proxy import Entry
from tests.faults.rules import Rule
from tests.faults.trial import Trial

FILE = "tiny-Q4_0.gguf"
HUB: Body = {"uri": "hf://tiny/open", "file": FILE}
SIZE = 2_000_000
ENDS_WITHIN_SECONDS = 150.0
"""No claim about time: engines start, and the way back begins when a budget of ten seconds is used up."""
_STAYS_SECONDS = 2.0


def padded() -> bytes:
    """The tiny model, with zeros behind it that no engine reads."""
    return tiny_model().ljust(SIZE, b"\0")


@dataclass(frozen=True, slots=True)
class Story:
    """What a user does: `before` in peace, then `act`; `reason` is what Ready says at its end, in which it is True."""

    before: Callable[[Kube], object]
    act: Callable[[Kube], object]
    reason: str = "Ready"


def _serves(kube: Kube) -> None:
    kube.create(a_tiny_service(startup={"timeoutSeconds": 10}))
    kube.wait_ready("chat")


def _downloads(kube: Kube) -> None:
    kube.create(a_tiny_service(model={**HUB, "cache": {"claim": {"name": "weights"}}}))


ROLLBACK = Story(
    before=_serves, act=lambda kube: kube.patch("LLMService", "chat", {"spec": {"model": HUB}}), reason="RolledBack"
)
"""A change that loads for longer than its budget."""
DOWNLOAD = Story(before=lambda _: None, act=_downloads)


def told(trial: Trial, kube: Kube, story: Story, kill_at: Rule | Callable[[Body], bool]) -> list[Entry] | None:
    """Act, kill the operator at this call or in this state of the resource, start it again, and wait for the end.

    Returns what it wrote; None where it was never killed.
    """
    story.before(kube)
    trial.proxy.scope, mark = kube.namespace, len(trial.proxy.journal)
    if isinstance(kill_at, Rule):
        kill_at.then = trial.kill
        trial.proxy.add(kill_at)
    story.act(kube)
    killed = _killed(trial, kube, story, kill_at)
    trial.proxy.heal()
    if killed:
        trial.restart()
    trial.wait_for(lambda: _is_over(kube, story), ENDS_WITHIN_SECONDS)
    time.sleep(_STAYS_SECONDS)
    assert _is_over(kube, story)
    return trial.proxy.journal[mark:] if killed else None


def status_of(kube: Kube) -> Body:
    """Of the resource; empty before it has one."""
    found: Body = (kube.get("LLMService", "chat") or {}).get("status", {})
    return found


def _killed(trial: Trial, kube: Kube, story: Story, kill_at: Rule | Callable[[Body], bool]) -> bool:
    if isinstance(kill_at, Rule):
        trial.wait_for(lambda: kill_at.hits > 0 or _is_over(kube, story), ENDS_WITHIN_SECONDS)
        return kill_at.hits > 0
    trial.wait_for(lambda: kill_at(status_of(kube)) or _is_over(kube, story), ENDS_WITHIN_SECONDS)
    if _is_over(kube, story):
        return False
    trial.kill()
    return True


def _is_over(kube: Kube, story: Story) -> bool:
    body = kube.get("LLMService", "chat") or {}
    status = body.get("status", {})
    is_current = status.get("observedGeneration") == body.get("metadata", {}).get("generation")
    ready = condition_of(body, "Ready")
    return is_current and (ready.get("status"), ready.get("reason")) == ("True", story.reason)
