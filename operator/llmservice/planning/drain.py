"""How a replica stops: preStop, the engine's own shutdown after SIGTERM, and a grace period above their sum."""

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.draining import SETTLE_SECONDS
from llmservice.engines.engine import Launch
from llmservice.planning.decided import Decided, default
from llmservice.planning.facts import Facts

_DRAIN_SECONDS = 300
_MARGIN_SECONDS = 15
_UNTIL_SENT_SINCE = 2
"""The render version from which on a drain waits for clients that read slowly."""


def drain_seconds(spec: LLMServiceSpec) -> Decided[int]:
    """How long running requests may take to finish, with the reason when it is a default."""
    if spec.drain.timeout_seconds is not None:
        return Decided(spec.drain.timeout_seconds)
    reason = "long answers take minutes; an idle replica stops within seconds"
    return Decided(_DRAIN_SECONDS, default("drain.timeoutSeconds", _DRAIN_SECONDS, reason))


def grace_seconds(launch: Launch) -> int:
    """The pod's terminationGracePeriodSeconds: it includes preStop, and must never end before the engine has."""
    return launch.pre_stop_seconds + launch.stop_seconds + _MARGIN_SECONDS


def drained_by_seconds(spec: LLMServiceSpec) -> int:
    """Seconds from the deletion of a pod to the end of its drain, whichever way the engine drains."""
    return SETTLE_SECONDS + drain_seconds(spec).value


def drains_until_sent(facts: Facts) -> bool:
    """Whether a drain lasts until clients have taken what was made for them."""
    return facts.render_version >= _UNTIL_SENT_SINCE
