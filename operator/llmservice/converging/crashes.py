"""Why an engine ended: named by the kubelet, by the engine's own words, or by how long it ran."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis, sentence
from llmservice.converging.missing import find_missing
from llmservice.converging.pod_context import PodContext
from llmservice.converging.redaction import LONGEST_TEXT, redacted
from llmservice.objects.pods import has_served, has_started
from llmservice.rendering.container import HUNG_SECONDS

_KILLED = 137
_ENDED_BY_SIGTERM = 143
_NEVER_RAN = frozenset({"StartError", "ContainerCannotRun"})
_LOST = frozenset({"ContainerStatusUnknown", "Unknown"})
"""What a kubelet says of a container that was gone when it came back."""
_PROBE_SECONDS = 15.0
_LATE_SECONDS = 60.0
_LONGEST_MESSAGE = 4096
"""As the kubelet cuts the last words of all containers of a pod at 12 kB, those of one at 4."""


def crash(context: PodContext) -> Diagnosis | None:
    """How the engine ended before it served again; None when it never did, or has started since.

    A kubelet that is started again takes back `started` for a moment: then it counts that the engine was ready.
    """
    end = context.last_end
    if (
        not end
        or has_started(context.engine)
        or has_served(context.pod)
        or (end.get("exitCode") == 0 and context.waiting.get("reason") != "CrashLoopBackOff")
    ):
        return None
    if end.get("reason") == "OOMKilled":
        limit = context.plan.container.resource_limits.get("memory")
        used = f"more than {limit} of memory" if limit else "more memory than its node has"
        message = f"the engine used {used} and was killed; raise spec.pod.resources.limits.memory"
        return Diagnosis(reason=Reason.OUT_OF_MEMORY, message=message)
    if end.get("reason") in _NEVER_RAN:
        return cannot_be_made(context, str(end.get("message", "")))
    if end.get("reason") in _LOST:
        message = "the engine was lost when its node went away or started again; it is started again by itself"
        return Diagnosis(reason=Reason.NODE_LOST, message=message, heals=True)
    text = f"{str(end.get('message', ''))[:_LONGEST_MESSAGE]}\n{context.log_tail[-LONGEST_TEXT:]}"
    return _named_by_engine(context, text) or _timed_out(context, end) or _unnamed(end, text)


def cannot_be_made(context: PodContext, text: str) -> Diagnosis:
    """What keeps the node from making or starting the engine's container, in the runtime's words."""
    if missing := find_missing(text, context.plan.owner.namespace):
        return missing
    message = f"the container cannot be made: {sentence(text)}; check spec.engineOptions and spec.pod"
    return _named_by_engine(context, text[:LONGEST_TEXT]) or Diagnosis(reason=Reason.CONTAINER_REFUSED, message=message)


def _named_by_engine(context: PodContext, text: str) -> Diagnosis | None:
    for log_pattern in context.log_patterns:
        if match := log_pattern.pattern.first(text):
            return Diagnosis(reason=log_pattern.reason, message=f"{sentence(match.line())}; {log_pattern.remedy}")
    return None


def _timed_out(context: PodContext, end: Mapping[str, Any]) -> Diagnosis | None:
    """Whether the startup probe gave up: the kubelet ended it, by SIGKILL after the grace, just when that was due."""
    ran, due = _ran_seconds(end), context.plan.container.startup_seconds
    latest = due + HUNG_SECONDS + _LATE_SECONDS
    if end.get("exitCode") not in {_KILLED, _ENDED_BY_SIGTERM} or not due - _PROBE_SECONDS <= ran <= latest:
        return None
    message = (
        f"the model was not loaded within {due} s and the engine was started again; raise spec.startup.timeoutSeconds"
    )
    return Diagnosis(reason=Reason.STARTUP_TIMED_OUT, message=message)


def _ran_seconds(end: Mapping[str, Any]) -> float:
    """How long that run lasted; 0 where the kubelet does not say."""
    began, ended = end.get("startedAt"), end.get("finishedAt")
    if not began or not ended:
        return 0.0
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()


def _unnamed(end: Mapping[str, Any], text: str) -> Diagnosis:
    # Of a key over several lines, no line by itself looks like one.
    lines = [line for line in redacted(text, len(text)).splitlines() if line.strip()]
    telling = f": {sentence(_telling_line(lines))}" if lines else ""
    how = f"the engine ended with exit code {end.get('exitCode')}"
    if end.get("exitCode") == _KILLED:
        how = "the engine was killed (exit code 137), as one is that stops answering its health check"
    return Diagnosis(reason=Reason.CRASH_LOOPING, message=f"{how}{telling}; see kubectl logs --previous")


_EXCEPTIONS = ("Error: ", "Exception: ")


def _telling_line(lines: Sequence[str]) -> str:
    """The last exception that does not point to an earlier one; else the last line."""
    return next((line for line in reversed(lines) if _names_root_cause(line)), lines[-1])


def _names_root_cause(line: str) -> bool:
    rest = line.rpartition("See root cause above")[2]
    return any(exception in rest for exception in _EXCEPTIONS)
